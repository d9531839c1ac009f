"""The parts of Kubernetes objects that are read, in the shape in which the API server sends them.

Every field is optional and nullable, as Kubernetes' own decoder has it; unknown fields are skipped without being
built. Blocks that many objects share stay raw bytes here, so that each distinct one is decoded once (`blocks`).
Fields stand in the order in which the API server writes them, which is where the decoder looks for them first.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, TypeVar

import msgspec


def set_time(moment: datetime | None) -> datetime | None:
    """`moment`, or None for the zero time of Go. Raises ValueError when the zone is missing."""
    if moment is None or moment.year == 1:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"time {moment.isoformat()!r} has no zone: write 2026-01-02T15:04:05Z")
    return moment


Item = TypeVar("Item", covariant=True)

ABSENT = msgspec.Raw(b"null")

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Whole numbers as the API has them: no API server reads what is beyond, and no column of numbers has room for it."""

SIDECAR = "Always"
"""The restart policy that makes an init container a sidecar."""


class Wire(msgspec.Struct, gc=False, rename="camel"):
    """Base of all wire types."""


class MetadataWire(Wire):
    """`metadata`."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    generation: Int64 | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: msgspec.Raw = ABSENT
    annotations: dict[str, msgspec.Raw] | None = None
    owner_references: msgspec.Raw = ABSENT


SpecT = TypeVar("SpecT", bound=Wire)
StatusT = TypeVar("StatusT", bound=Wire)


class _SpecifiedWire(Wire, Generic[SpecT]):
    metadata: MetadataWire | None = None
    spec: SpecT | None = None


class _ReportedWire(_SpecifiedWire[SpecT], Generic[SpecT, StatusT]):
    status: StatusT | None = None


class SpecReader(Generic[SpecT]):
    """Reads an object for its metadata and its spec, empty ones where it has none. Modules make it when imported."""

    def __init__(self, spec: type[SpecT]) -> None:
        self._spec = spec
        self._decode = msgspec.json.Decoder(_SpecifiedWire[spec]).decode  # type: ignore[valid-type] # made for each

    def __call__(self, block: bytes) -> tuple[MetadataWire, SpecT]:
        """Raises msgspec.DecodeError."""
        wire = self._decode(block)
        return wire.metadata or MetadataWire(), wire.spec or self._spec()


class ObjectReader(Generic[SpecT, StatusT]):
    """As `SpecReader`, with the status."""

    def __init__(self, spec: type[SpecT], status: type[StatusT]) -> None:
        self._spec, self._status = spec, status
        self._decode = msgspec.json.Decoder(_ReportedWire[spec, status]).decode  # type: ignore[valid-type] # as above

    def __call__(self, block: bytes) -> tuple[MetadataWire, SpecT, StatusT]:
        """Raises msgspec.DecodeError."""
        wire = self._decode(block)
        return wire.metadata or MetadataWire(), wire.spec or self._spec(), wire.status or self._status()


class ContainerWire(Wire):
    """One container of a pod spec."""

    name: str | None = None
    image: str | None = None
    ports: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT
    restart_policy: str | None = None
    restart_policy_rules: msgspec.Raw = ABSENT


class ClaimSourceWire(Wire):
    """`persistentVolumeClaim` of a volume."""

    claim_name: str | None = None


class VolumeWire(Wire):
    """One volume of a pod spec."""

    name: str | None = None
    host_path: msgspec.Raw = ABSENT
    empty_dir: msgspec.Raw = ABSENT
    gce_persistent_disk: msgspec.Raw = ABSENT
    aws_elastic_block_store: msgspec.Raw = ABSENT
    azure_disk: msgspec.Raw = ABSENT
    cinder: msgspec.Raw = ABSENT
    portworx_volume: msgspec.Raw = ABSENT
    iscsi: msgspec.Raw = ABSENT
    persistent_volume_claim: ClaimSourceWire | None = None
    rbd: msgspec.Raw = ABSENT
    ephemeral: msgspec.Raw = ABSENT
    image: msgspec.Raw = ABSENT


class PodSpecWire(Wire):
    """`spec` of a pod."""

    volumes: list[VolumeWire] | None = None
    init_containers: list[ContainerWire] | None = None
    containers: list[ContainerWire] | None = None
    node_selector: msgspec.Raw = ABSENT
    node_name: str | None = None
    host_network: bool | None = None
    affinity: msgspec.Raw = ABSENT
    scheduler_name: str | None = None
    tolerations: msgspec.Raw = ABSENT
    priority: Int32 | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    termination_grace_period_seconds: int | None = None
    overhead: msgspec.Raw = ABSENT
    topology_spread_constraints: msgspec.Raw = ABSENT
    host_users: bool | None = None
    scheduling_gates: msgspec.Raw = ABSENT
    resource_claims: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT
    scheduling_group: msgspec.Raw = ABSENT
    workload_ref: msgspec.Raw = ABSENT


class WaitingWire(Wire):
    """`state.waiting`."""

    reason: str | None = None


class TerminatedWire(Wire):
    """`state.terminated`."""

    exit_code: Int32 | None = None
    reason: str | None = None


class StateWire(Wire):
    """`state` of a container status."""

    waiting: WaitingWire | None = None
    terminated: TerminatedWire | None = None


class ContainerStatusWire(Wire):
    """One entry of `containerStatuses`."""

    name: str | None = None
    state: StateWire | None = None
    restart_count: Int32 | None = None
    allocated_resources: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT


class ConditionWire(Wire):
    """One entry of `conditions`."""

    type: str | None = None
    status: str | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None


class StatusWire(Wire):
    """`status` of a pod."""

    phase: str | None = None
    conditions: msgspec.Raw = ABSENT
    reason: str | None = None
    nominated_node_name: str | None = None
    start_time: datetime | None = None
    init_container_statuses: list[ContainerStatusWire] | None = None
    container_statuses: list[ContainerStatusWire] | None = None
    qos_class: str | None = None
    ephemeral_container_statuses: list[ContainerStatusWire] | None = None
    allocated_resources: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT
    resource_claim_statuses: msgspec.Raw = ABSENT
    extended_resource_claim_status: msgspec.Raw = ABSENT


class PodWire(Wire):
    """A pod."""

    metadata: MetadataWire | None = None
    spec: PodSpecWire | None = None
    status: StatusWire | None = None


class TaintWire(Wire):
    """One taint of a node, or of a Reservation."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSpecWire(Wire):
    """`spec` of a node."""

    unschedulable: bool | None = None
    taints: list[TaintWire] | None = None


class NodeStatusWire(Wire):
    """`status` of a node."""

    capacity: msgspec.Raw = ABSENT
    allocatable: msgspec.Raw = ABSENT
    conditions: list[ConditionWire] | None = None
    images: msgspec.Raw = ABSENT
    declared_features: msgspec.Raw = ABSENT


class NodeWire(Wire):
    """A node."""

    metadata: MetadataWire | None = None
    spec: NodeSpecWire | None = None
    status: NodeStatusWire | None = None


class ListMetadataWire(msgspec.Struct, gc=False):
    """`metadata` of a list; only a list that is one page of several names a `continue` token or a remaining count."""

    continue_token: str | None = msgspec.field(default=None, name="continue")
    num_remaining: Int64 | None = msgspec.field(default=None, name="remainingItemCount")

    @property
    def is_complete(self) -> bool:
        """Whether no further page follows."""
        return not self.continue_token and not self.num_remaining


class PodPageWire(Wire, Generic[Item]):
    """A PodList whose items are read as `Item`."""

    kind: str | None = None
    api_version: str | None = None
    metadata: ListMetadataWire | None = None
    items: list[Item] | None = None


class ObjectHeader(Wire):
    """What says which kind an object is; `message` is that of a Status, which is no object but an answer."""

    kind: str | None = None
    api_version: str | None = None
    metadata: ListMetadataWire | None = None
    message: str | None = None
    items: msgspec.Raw = ABSENT
