"""How the cluster is, as far as guards go by it: nodes that are not ready, pods that find no node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from descheduler.kube.lists.table import column_cells
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.providers.labels import JOB_LABEL

__all__ = ["Health", "read_health"]


@dataclass(frozen=True, slots=True)
class Health:
    """Pods that hold room for a migration do not count as unschedulable."""

    num_nodes: int
    num_not_ready: int
    num_unschedulable: int


_NODES = "/api/v1/nodes"


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


def read_health(objects: ObjectCalls) -> Health:
    """The health now, by two lists: the nodes, and the pods of phase Pending without a node. Raises KubeError."""
    are_not_ready = _read_nodes(objects)
    pods = objects.list("/api/v1/pods", _decode, field_selector="status.phase=Pending,spec.nodeName=")
    return Health(len(are_not_ready), sum(are_not_ready), sum(map(_is_unschedulable, pods)))


def _read_nodes(objects: ObjectCalls) -> list[bool]:
    """Whether each node is not ready.

    By the table of `kubectl get nodes`: whole nodes, with their images, are some 10 KB each. A cell is, for example,
    `NotReady,SchedulingDisabled` (kubernetes 1.36 `pkg/printers/internalversion/printers.go`, `printNode`).
    """
    cells = column_cells(objects.client, _NODES, "Status")
    if cells is None:
        return [_is_not_ready(node) for node in objects.list(_NODES, _decode)]
    return [cell.split(",")[0] == "NotReady" for cell in cells]


def _decode(block: bytes) -> _Object:
    return msgspec.json.decode(block, type=_Object)


def _is_not_ready(node: _Object) -> bool:
    return any(each.type == "Ready" and each.status != "True" for each in node.status.conditions or ())


def _is_unschedulable(pod: _Object) -> bool:
    labels: dict[str, Any] = pod.metadata.labels or {}
    if JOB_LABEL in labels:
        return False
    conditions = pod.status.conditions or ()
    return any(each.type == "PodScheduled" and each.reason == "Unschedulable" for each in conditions)
