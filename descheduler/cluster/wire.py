"""The parts of Kubernetes objects that are read, in the shape in which the API server sends them.

Every field is optional and nullable, as Kubernetes' own decoder has it; unknown fields are skipped without being
built. Blocks that many objects share stay raw bytes here, so that each distinct one is decoded once (`cluster.blocks`).
"""

from __future__ import annotations

from datetime import datetime

import msgspec

__all__ = [
    "ABSENT",
    "ContainerWire",
    "ListMetadataWire",
    "MetadataWire",
    "NodeWire",
    "ObjectHeader",
    "PodWire",
    "RawItems",
    "StatusWire",
]

ABSENT = msgspec.Raw(b"null")


class Wire(msgspec.Struct, gc=False, rename="camel"):
    """Base of all wire types."""


class MetadataWire(Wire):
    """`metadata`."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: msgspec.Raw = ABSENT
    annotations: msgspec.Raw = ABSENT
    owner_references: msgspec.Raw = ABSENT


class ContainerWire(Wire):
    """One container of a pod spec."""

    image: str | None = None
    resources: msgspec.Raw = ABSENT
    restart_policy: str | None = None


class ClaimSourceWire(Wire):
    """`persistentVolumeClaim` of a volume."""

    claim_name: str | None = None


class VolumeWire(Wire):
    """One volume of a pod spec."""

    host_path: msgspec.Raw = ABSENT
    empty_dir: msgspec.Raw = ABSENT
    persistent_volume_claim: ClaimSourceWire | None = None


class PodSpecWire(Wire):
    """`spec` of a pod."""

    node_name: str | None = None
    containers: list[ContainerWire] | None = None
    init_containers: list[ContainerWire] | None = None
    volumes: list[VolumeWire] | None = None
    node_selector: msgspec.Raw = ABSENT
    affinity: msgspec.Raw = ABSENT
    tolerations: msgspec.Raw = ABSENT
    topology_spread_constraints: msgspec.Raw = ABSENT
    overhead: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT
    resource_claims: msgspec.Raw = ABSENT
    priority: int | None = None
    scheduler_name: str | None = None


class WaitingWire(Wire):
    """`state.waiting`."""

    reason: str | None = None


class TerminatedWire(Wire):
    """`state.terminated`."""

    reason: str | None = None
    exit_code: int | None = None


class StateWire(Wire):
    """`state` of a container status."""

    waiting: WaitingWire | None = None
    terminated: TerminatedWire | None = None


class ContainerStatusWire(Wire):
    """One entry of `containerStatuses`."""

    restart_count: int | None = None
    state: StateWire | None = None


class ConditionWire(Wire):
    """One entry of `conditions`."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    last_transition_time: datetime | None = None


class StatusWire(Wire):
    """`status` of a pod."""

    phase: str | None = None
    reason: str | None = None
    qos_class: str | None = None
    start_time: datetime | None = None
    conditions: list[ConditionWire] | None = None
    container_statuses: list[ContainerStatusWire] | None = None
    init_container_statuses: list[ContainerStatusWire] | None = None
    ephemeral_container_statuses: list[ContainerStatusWire] | None = None


class PodWire(Wire):
    """A pod."""

    metadata: MetadataWire | None = None
    spec: PodSpecWire | None = None
    status: StatusWire | None = None


class TaintWire(Wire):
    """One taint of a node spec."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSpecWire(Wire):
    """`spec` of a node."""

    unschedulable: bool | None = None
    taints: list[TaintWire] | None = None


class NodeStatusWire(Wire):
    """`status` of a node."""

    allocatable: msgspec.Raw = ABSENT
    capacity: msgspec.Raw = ABSENT
    conditions: list[ConditionWire] | None = None


class NodeWire(Wire):
    """A node."""

    metadata: MetadataWire | None = None
    spec: NodeSpecWire | None = None
    status: NodeStatusWire | None = None


class ListMetadataWire(msgspec.Struct, gc=False):
    """`metadata` of a list; only a list that is one page of several names a `continue` token or a remaining count."""

    continue_token: str | None = msgspec.field(default=None, name="continue")
    num_remaining: int | None = msgspec.field(default=None, name="remainingItemCount")

    @property
    def is_complete(self) -> bool:
        """Whether no further page follows."""
        return not self.continue_token and not self.num_remaining


class ObjectHeader(Wire):
    """What says which kind an object is; `message` is that of a Status, which is no object but an answer."""

    kind: str | None = None
    api_version: str | None = None
    metadata: ListMetadataWire | None = None
    message: str | None = None
    items: msgspec.Raw = ABSENT


class RawItems(Wire):
    """The items of a list, each left as bytes."""

    items: list[msgspec.Raw] | None = None
