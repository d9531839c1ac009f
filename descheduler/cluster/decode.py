"""From wire types to model values: one decoder a snapshot, so that equal parts of its objects are one value."""

from __future__ import annotations

from datetime import datetime
from sys import intern

from descheduler.cluster import wire
from descheduler.cluster.blocks import (
    BlockCache,
    decode_affinity,
    decode_annotations,
    decode_labels,
    decode_owners,
    decode_quantities,
    decode_resources,
    decode_tolerations,
    decode_topology_spread,
)
from descheduler.cluster.wire import ABSENT
from descheduler.model.node import Node
from descheduler.model.pod import ContainerStatus, Pod, PodCondition, PodSpec
from descheduler.model.qos import qos_class
from descheduler.model.requests import ContainerResources, pod_requests
from descheduler.model.taints import Taint

__all__ = ["NodeDecoder", "PodDecoder", "Timestamp"]

Timestamp = datetime | None

_NO_METADATA = wire.MetadataWire()
_NO_SPEC = wire.PodSpecWire()
_NO_STATUS = wire.StatusWire()
_NO_NODE_SPEC = wire.NodeSpecWire()
_NO_NODE_STATUS = wire.NodeStatusWire()
_NULL = b"null"
_EMPTY = (b"null", b"[]", b"{}")


def set_time(moment: datetime | None) -> Timestamp:
    """`moment`, or None for the zero time of Go. Raises ValueError when the zone is missing."""
    if moment is None or moment.year == 1:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"time {moment.isoformat()!r} has no zone: write 2026-01-02T15:04:05Z")
    return moment


class PodDecoder:
    """Makes `Pod` values; specs, labels, owners and states that were seen before are shared.

    Conditions are the bulkiest part that is unique to each pod, so they are kept only where a plugin reads them.
    """

    def __init__(self, *, keep_conditions: bool = True) -> None:
        self._keep_conditions = keep_conditions
        self._labels = BlockCache(decode_labels)
        self._owners = BlockCache(decode_owners)
        self._resources = BlockCache(decode_resources)
        self._quantities = BlockCache(decode_quantities)
        self._specs: dict[object, PodSpec] = {}
        self._statuses_seen: dict[tuple[ContainerStatus, ...], tuple[ContainerStatus, ...]] = {}
        self._times: dict[datetime, datetime] = {}

    def decode(self, pod: wire.PodWire) -> Pod:
        """The model value of one pod. Raises ValueError on content that Kubernetes would not store."""
        metadata = pod.metadata or _NO_METADATA
        spec = pod.spec or _NO_SPEC
        status = pod.status or _NO_STATUS
        conditions = status.conditions or []
        return Pod(
            name=metadata.name or "",
            namespace=intern(metadata.namespace or ""),
            uid=metadata.uid or "",
            spec=self._spec(spec),
            node_name=intern(spec.node_name or ""),
            phase=intern(status.phase or ""),
            created_at=self._time(metadata.creation_timestamp),
            started_at=self._time(status.start_time),
            deleted_at=set_time(metadata.deletion_timestamp),
            labels=self._labels[bytes(metadata.labels)],
            annotations=decode_annotations(metadata.annotations),
            owners=self._owners[bytes(metadata.owner_references)],
            claim_names=_claim_names(spec.volumes),
            status_reason=intern(status.reason or ""),
            reported_qos_class=intern(status.qos_class or ""),
            container_statuses=self._statuses(status.container_statuses),
            init_container_statuses=self._statuses(status.init_container_statuses),
            ephemeral_container_statuses=self._statuses(status.ephemeral_container_statuses),
            is_ready=_is_ready(conditions),
            conditions=self._conditions(conditions) if self._keep_conditions else None,
        )

    def _time(self, moment: datetime | None) -> Timestamp:
        moment = set_time(moment)
        return None if moment is None else self._times.setdefault(moment, moment)

    def _conditions(self, conditions: list[wire.ConditionWire]) -> tuple[PodCondition, ...]:
        decoded = []
        seen: datetime | None = None
        time: Timestamp = None
        for condition in conditions:
            moment = condition.last_transition_time
            # Conditions mostly change together, and comparing two times is far cheaper than looking one up.
            if moment != seen:
                seen, time = moment, self._time(moment)
            decoded.append(
                PodCondition(
                    intern(condition.type or ""), intern(condition.status or ""), intern(condition.reason or ""), time
                )
            )
        return tuple(decoded)

    def _spec(self, spec: wire.PodSpecWire) -> PodSpec:
        resources = self._resources
        is_local = _has_local_storage(spec.volumes)
        has_claims = spec.resource_claims is not ABSENT and bytes(spec.resource_claims) not in _EMPTY
        key = (
            tuple([(c.image, id(resources[bytes(c.resources)])) for c in spec.containers or ()]),
            tuple([(id(resources[bytes(c.resources)]), c.restart_policy) for c in spec.init_containers])
            if spec.init_containers
            else None,
            bytes(spec.node_selector),
            bytes(spec.affinity),
            bytes(spec.tolerations),
            bytes(spec.topology_spread_constraints),
            bytes(spec.overhead),
            bytes(spec.resources),
            spec.priority,
            spec.scheduler_name,
            is_local,
            has_claims,
        )
        known = self._specs.get(key)
        if known is None:
            known = self._specs[key] = self._make_spec(spec, has_local_storage=is_local, has_resource_claims=has_claims)
        return known

    def _make_spec(self, spec: wire.PodSpecWire, *, has_local_storage: bool, has_resource_claims: bool) -> PodSpec:
        containers = tuple(self._resources[bytes(c.resources)] for c in spec.containers or ())
        init = tuple(_init_resources(self._resources[bytes(c.resources)], c) for c in spec.init_containers or ())
        return PodSpec(
            containers=containers,
            init_containers=init,
            images=tuple(c.image or "" for c in spec.containers or ()),
            requests=pod_requests(
                containers,
                init,
                pod_level=decode_resources(bytes(spec.resources)).requests,
                overhead=self._quantities[bytes(spec.overhead)],
            ),
            qos_class=qos_class((*containers, *init)),
            node_selector=self._labels[bytes(spec.node_selector)],
            affinity=decode_affinity(bytes(spec.affinity)),
            tolerations=decode_tolerations(bytes(spec.tolerations)),
            topology_spread=decode_topology_spread(bytes(spec.topology_spread_constraints)),
            priority=spec.priority,
            scheduler_name=spec.scheduler_name or "",
            has_local_storage=has_local_storage,
            has_resource_claims=has_resource_claims,
        )

    def _statuses(self, statuses: list[wire.ContainerStatusWire] | None) -> tuple[ContainerStatus, ...]:
        if not statuses:
            return ()
        decoded = tuple([_container_status(status) for status in statuses])
        return self._statuses_seen.setdefault(decoded, decoded)


def _is_ready(conditions: list[wire.ConditionWire]) -> bool:
    for condition in conditions:
        if condition.type == "Ready":
            return condition.status == "True"
    return False


def _container_status(status: wire.ContainerStatusWire) -> ContainerStatus:
    state = status.state
    waiting = state.waiting if state else None
    terminated = state.terminated if state else None
    return ContainerStatus(
        restart_count=status.restart_count or 0,
        waiting_reason=None if waiting is None else waiting.reason or "",
        terminated_reason=None if terminated is None else terminated.reason or "",
        exit_code=None if terminated is None else terminated.exit_code or 0,
    )


def _init_resources(resources: ContainerResources, container: wire.ContainerWire) -> ContainerResources:
    if container.restart_policy != "Always":
        return resources
    return ContainerResources(resources.requests, resources.limits, is_sidecar=True)


def _claim_names(volumes: list[wire.VolumeWire] | None) -> tuple[str, ...]:
    if not volumes:
        return ()
    claims = [volume.persistent_volume_claim for volume in volumes if volume.persistent_volume_claim is not None]
    return tuple([claim.claim_name or "" for claim in claims]) if claims else ()


def _has_local_storage(volumes: list[wire.VolumeWire] | None) -> bool:
    if volumes:
        for volume in volumes:
            if volume.host_path is not ABSENT and bytes(volume.host_path) != _NULL:
                return True
            if volume.empty_dir is not ABSENT and bytes(volume.empty_dir) != _NULL:
                return True
    return False


class NodeDecoder:
    """Makes `Node` values."""

    def __init__(self) -> None:
        self._labels = BlockCache(decode_labels)
        self._quantities = BlockCache(decode_quantities)

    def decode(self, node: wire.NodeWire) -> Node:
        """The model value of one node. Raises ValueError on content that Kubernetes would not store."""
        metadata = node.metadata or _NO_METADATA
        spec = node.spec or _NO_NODE_SPEC
        status = node.status or _NO_NODE_STATUS
        return Node(
            name=metadata.name or "",
            uid=metadata.uid or "",
            labels=self._labels[bytes(metadata.labels)],
            annotations=decode_annotations(metadata.annotations),
            unschedulable=bool(spec.unschedulable),
            taints=tuple(Taint(t.key or "", t.value or "", t.effect or "") for t in spec.taints or ()),
            allocatable=self._quantities[bytes(status.allocatable)],
            capacity=self._quantities[bytes(status.capacity)],
            is_ready=all(c.type != "Ready" or c.status == "True" for c in status.conditions or ()),
        )
