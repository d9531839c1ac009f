"""How the cluster is, as far as guards go by it: nodes that are not ready, pods that find no node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.providers.labels import JOB_LABEL

__all__ = ["Health", "read_health"]


@dataclass(frozen=True, slots=True)
class Health:
    """Pods that hold room for a migration do not count as unschedulable."""

    num_nodes: int
    num_not_ready: int
    num_unschedulable: int


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
    """The health now, by two lists: the nodes, and the pods of phase Pending. Raises KubeError."""
    nodes = objects.list("/api/v1/nodes", _decode)
    pods = objects.list("/api/v1/pods", _decode, field_selector="status.phase=Pending")
    return Health(len(nodes), sum(map(_is_not_ready, nodes)), sum(map(_is_unschedulable, pods)))


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
