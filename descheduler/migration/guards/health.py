"""How the cluster is, as far as guards go by it: nodes that are not ready, pods that find no node."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from descheduler.kube.lists.listing import column_cells
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.labels import is_named_as_placeholder

__all__ = ["Health", "read_health"]


@dataclass(frozen=True, slots=True)
class Health:
    """Pods that hold room for a migration do not count as unschedulable; `num_pods` is 0 where none were counted."""

    num_nodes: int
    num_not_ready: int
    num_unschedulable: int
    num_pods: int = 0


_NODES = "/api/v1/nodes"
_PODS = "/api/v1/pods"


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""


class _Metadata(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


class _PageMetadata(msgspec.Struct, rename="camel"):
    remaining_item_count: int | None = None


class _Page(msgspec.Struct):
    metadata: _PageMetadata
    items: list[msgspec.Raw]


_decode_page = msgspec.json.Decoder(_Page).decode


def read_health(objects: ObjectCalls, *, counts_pods: bool = False) -> Health:
    """The health now, by two lists: the nodes, and the pods of phase Pending without a node. Raises ExchangeError."""
    are_not_ready = _read_nodes(objects)
    pods = objects.list_readable(_PODS, _decode, field_selector="status.phase=Pending,spec.nodeName=")
    num_pods = _count_pods(objects) if counts_pods else 0
    return Health(len(are_not_ready), sum(are_not_ready), sum(map(_is_unschedulable, pods)), num_pods)


def _count_pods(objects: ObjectCalls) -> int:
    """How many pods there are, of any phase: the first page of their list says how many more follow."""
    page = objects.client.fetch(_PODS, _decode_page, query={"limit": "1"})
    return len(page.items) + (page.metadata.remaining_item_count or 0)


def _read_nodes(objects: ObjectCalls) -> list[bool]:
    """Whether each node is not ready.

    By the table of `kubectl get nodes`: whole nodes, with their images, are some 10 KB each. A cell is, for example,
    `NotReady,SchedulingDisabled` (kubernetes 1.36 `pkg/printers/internalversion/printers.go`, `printNode`).
    """
    cells = column_cells(objects.client, _NODES, "Status")
    if cells is None:
        return [_is_not_ready(node) for node in objects.list(_NODES, _decode)]
    return [cell.split(",")[0] == "NotReady" for cell in cells]


def _is_not_ready(node: _Object) -> bool:
    return any(each.type == "Ready" and each.status != "True" for each in node.status.conditions or ())


def _is_unschedulable(pod: _Object) -> bool:
    if is_named_as_placeholder(pod.metadata.name, pod.metadata.labels or {}):
        return False
    conditions = pod.status.conditions or ()
    return any(each.type == "PodScheduled" and each.reason == "Unschedulable" for each in conditions)
