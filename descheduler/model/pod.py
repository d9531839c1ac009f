"""Pods, split into what differs from pod to pod (`Pod`) and what its replicas share (`PodSpec`).

The shared parts are flyweights: the decoder hands out one instance for all pods that state the same thing, so identity
of a `PodSpec` is a cheap placement class.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.model.requests import ContainerResources, ResizedRequests, ResourceList
from descheduler.model.selection.affinity import Affinity, TopologySpreadConstraint
from descheduler.model.selection.taints import Toleration
from descheduler.model.volume_sources import ClaimTemplate

EVICT_ANNOTATION = "descheduler.alpha.kubernetes.io/evict"
PREFER_NO_EVICTION_ANNOTATION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
REQUEST_EVICT_ONLY_ANNOTATION = "descheduler.alpha.kubernetes.io/request-evict-only"
EVICTION_IN_PROGRESS_ANNOTATION = "descheduler.alpha.kubernetes.io/eviction-in-progress"
DEFAULT_GRACE_SECONDS = 30
DO_NOT_DISRUPT_ANNOTATION = "karpenter.sh/do-not-disrupt"
SAFE_TO_EVICT_ANNOTATION = "cluster-autoscaler.kubernetes.io/safe-to-evict"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
SOURCE_ANNOTATION = "kubernetes.io/config.source"

_STAYING = {DO_NOT_DISRUPT_ANNOTATION: "true", SAFE_TO_EVICT_ANNOTATION: "false"}
STAYING_ANNOTATIONS = tuple([f'{key}: "{value}"' for key, value in _STAYING.items()])
"""The annotations, with their values, by which pods ask Karpenter and cluster-autoscaler not to evict them."""

COMING_CLAIM = "+"
"""What the name of a generated claim ends with that is yet to be made; no stored object has such a name."""
EXTENDED_CLAIM = "<extended-resources>"
"""The entry of `generated_claims` of the claim that the scheduler made for a pod's extended resources."""

CRITICAL_PRIORITY = 2_000_000_000
"""Lowest priority of the system-critical classes, and the highest a user's class may have."""


class Owner(msgspec.Struct, frozen=True, gc=False):
    """One entry of `metadata.ownerReferences`."""

    kind: str
    name: str
    uid: str
    api_version: str = ""
    controller: bool = False


class ContainerStatus(msgspec.Struct, frozen=True, gc=False):
    """The current state of one container; reasons are None outside that state."""

    restart_count: int = 0
    waiting_reason: str | None = None
    terminated_reason: str | None = None
    exit_code: int | None = None


class PodCondition(msgspec.Struct, frozen=True, gc=False):
    """One entry of `status.conditions`; `transitioned_at` is None for the zero time."""

    type: str
    status: str
    reason: str
    transitioned_at: datetime | None


class HostPort(msgspec.Struct, frozen=True, gc=False):
    """A port of the node that a container, or a sidecar, wants; `ip` is `0.0.0.0` for every address of the node."""

    protocol: str
    ip: str
    port: int
    is_of_sidecar: bool = False


InlineDiskKind = Literal[
    "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd", "azureDisk", "cinder", "portworxVolume"
]
_EXCLUSIVE_KINDS = frozenset({"gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"})


class InlineDisk(msgspec.Struct, frozen=True, gc=False):
    """A disk that a pod states itself instead of claiming it, of a kind that the scheduler looks at.

    `identity` says which disk it is: disk name, volume id, disk URI, target name, or pool and image. `monitors` are
    the servers of an `rbd` image.
    """

    kind: InlineDiskKind
    identity: tuple[str, ...]
    read_only: bool = False
    monitors: frozenset[str] = frozenset()

    @property
    def is_exclusive(self) -> bool:
        """Whether it is of a kind that not every two pods of a node may share."""
        return self.kind in _EXCLUSIVE_KINDS


class EphemeralVolume(msgspec.Struct, frozen=True, gc=False):
    """A volume that lives as long as its pod; its claim is named `<pod name>-<name>`.

    `num_claims_before` are the volumes of the pod before this one that name a claim.
    """

    name: str
    claim: ClaimTemplate
    num_claims_before: int = 0


class PodResourceClaim(msgspec.Struct, frozen=True, gc=False):
    """One entry of `spec.resourceClaims`: it names a claim, or the template of one that is made for the pod."""

    name: str
    claim_name: str = ""
    template_name: str = ""


class PodSpec(msgspec.Struct, frozen=True, gc=False, eq=False, weakref=False):
    """What identical replicas share. `requests` is the effective request in nano units; `qos_class` is derived.

    `scoring_requests` are cpu and memory as the scheduler's scores charge them once the pod is on a node, where a
    container that asks for none is taken to want a little; `incoming_scoring_requests` while the pod is to be placed.
    `host_ports` are those of containers and sidecars; `volume_images` are images mounted as volumes;
    `required_features` are those that a node has to declare before it may run the pod.
    """

    containers: tuple[ContainerResources, ...]
    init_containers: tuple[ContainerResources, ...]
    images: tuple[str, ...]
    requests: ResourceList
    qos_class: str
    node_selector: Mapping[str, str]
    affinity: Affinity | None
    tolerations: tuple[Toleration, ...]
    topology_spread: tuple[TopologySpreadConstraint, ...]
    priority: int | None
    scheduler_name: str
    has_local_storage: bool
    has_resource_claims: bool
    init_images: tuple[str, ...] = ()
    volume_images: tuple[str, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    overhead: ResourceList = {}
    pod_level_requests: ResourceList = {}
    scoring_requests: ResourceList = {}
    incoming_scoring_requests: ResourceList = {}
    scheduling_gates: tuple[str, ...] = ()
    inline_disks: tuple[InlineDisk, ...] = ()
    priority_class_name: str = ""
    preemption_policy: str = ""
    grace_period_seconds: int = DEFAULT_GRACE_SECONDS
    """For its containers to end, where the eviction states no other."""
    resource_claims: tuple[PodResourceClaim, ...] = ()
    has_scheduling_group: bool = False
    scheduling_group: str = ""
    required_features: frozenset[str] = frozenset()


class Pod(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One pod. Times are aware UTC, None for the zero time; `node_name` is empty while unbound.

    `annotations` holds only the keys that some rule reads; `conditions` is None in a snapshot taken without them.
    `resized` is what the pod holds while that differs from what its spec asks for, None otherwise. `is_respecified`
    says that its spec was changed after it was created, as by a resize in place. `generated_claims` maps entries of
    `spec.resource_claims`, and EXTENDED_CLAIM, to the claims that were made for them, "" for one that needs none.
    """

    name: str
    namespace: str
    uid: str
    spec: PodSpec
    node_name: str
    phase: str
    created_at: datetime | None
    started_at: datetime | None
    deleted_at: datetime | None
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    owners: tuple[Owner, ...]
    claim_names: tuple[str, ...]
    status_reason: str
    reported_qos_class: str
    container_statuses: tuple[ContainerStatus, ...]
    init_container_statuses: tuple[ContainerStatus, ...]
    ephemeral_container_statuses: tuple[ContainerStatus, ...]
    is_ready: bool
    conditions: tuple[PodCondition, ...] | None
    ephemeral_volumes: tuple[EphemeralVolume, ...] = ()
    nominated_node_name: str = ""
    resized: ResizedRequests | None = None
    is_respecified: bool = False
    generated_claims: Mapping[str, str] = {}

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def priority(self) -> int | None:
        """`spec.priority`; None when unset, which is below every number."""
        return self.spec.priority

    @property
    def qos_class(self) -> str:
        """The reported class, or the derived one while the status has none."""
        return self.reported_qos_class or self.spec.qos_class

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has finished: phase `Succeeded` or `Failed`."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_resize_deferred(self) -> bool:
        """Whether the kubelet resizes the pod in place as soon as its node has room; needs `conditions`."""
        deferred = ("PodResizePending", "True", "Deferred")
        return any((each.type, each.status, each.reason) == deferred for each in self.conditions or ())

    @property
    def is_terminating(self) -> bool:
        """Whether a deletion time is set."""
        return self.deleted_at is not None

    @property
    def is_mirror(self) -> bool:
        """Whether the pod mirrors a static pod of a kubelet."""
        return MIRROR_ANNOTATION in self.annotations

    @property
    def is_static(self) -> bool:
        """Whether a kubelet runs the pod from a source other than the API server."""
        return self.annotations.get(SOURCE_ANNOTATION, "api") != "api"

    @property
    def keeps_node_in_use(self) -> bool:
        """Whether its node is in use because of the pod, and not drained while the pod is there."""
        return not self.why_not_in_use

    @property
    def why_not_in_use(self) -> str:
        """Why the pod does not keep its node in use; "" for one that does."""
        if self.is_terminating:
            return "is being deleted"
        if self.is_mirror or self.is_static:
            return "is a static pod"
        return "belongs to a DaemonSet" if any(owner.kind == "DaemonSet" for owner in self.owners) else ""

    @property
    def prefers_no_eviction(self) -> bool:
        """Whether the owner would rather keep the pod; the annotation's value is irrelevant."""
        return PREFER_NO_EVICTION_ANNOTATION in self.annotations

    @property
    def controller(self) -> Owner | None:
        """The owner marked as controller, if any."""
        for owner in self.owners:
            if owner.controller:
                return owner
        return None


def coming_claims(name: str, spec: PodSpec) -> Mapping[str, str]:
    """The claims that are made from templates for a new pod of this name, by their entries in the spec."""
    return {each.name: f"{name}-{each.name}{COMING_CLAIM}" for each in spec.resource_claims if each.template_name}


def asks_to_stay(pod: Pod) -> str:
    """The one of `STAYING_ANNOTATIONS` that `pod` has, the first of several; "" for none."""
    for text, (key, value) in zip(STAYING_ANNOTATIONS, _STAYING.items(), strict=True):
        if pod.annotations.get(key) == value:
            return text
    return ""
