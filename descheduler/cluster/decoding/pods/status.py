"""What a pod's status says: states of its containers, readiness, and amounts while the pod is being resized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from sys import intern

import msgspec

from descheduler.cluster.decoding.block_cache import BlockCache
from descheduler.cluster.decoding.blocks import decode_quantities, decode_resources
from descheduler.cluster.decoding.times import set_time
from descheduler.cluster.decoding.wire import (
    ABSENT,
    SIDECAR,
    ConditionWire,
    ContainerStatusWire,
    ContainerWire,
    PodSpecWire,
    StatusWire,
    Wire,
)
from descheduler.model.pod import ContainerStatus, PodCondition, PodSpec
from descheduler.model.requests import (
    ContainerResources,
    ResizedRequests,
    highest,
    pod_requests,
    scoring_requests,
)

__all__ = ["PodStatus", "ResizeDecoder", "StatusDecoder", "decode_conditions", "is_ready"]

_NULL = b"null"
_READY = b'"type":"Ready"'
_TRUE = b',"status":"True"'


class _ClaimStatusWire(Wire):
    name: str | None = None
    resource_claim_name: str | None = None


_NO_CLAIMS: Mapping[str, str] = {}
_decode_claim_statuses = msgspec.json.Decoder(list[_ClaimStatusWire] | None).decode
_decode_conditions = msgspec.json.Decoder(list[ConditionWire] | None).decode


def is_ready(block: bytes) -> bool:
    """Whether the first condition named `Ready` is true."""
    # The API server writes compact JSON, `type` before `status`. Inside of strings quotes are escaped, so what is found
    # this way is the member of an object, and of the same one where no brace closes in between.
    at = block.find(_READY)
    if at >= 0 and (block.startswith(_TRUE, at + len(_READY)) or block.find(_TRUE, at, block.find(b"}", at)) >= 0):
        return True
    conditions: list[ConditionWire] | None = _decode_conditions(block)
    for condition in conditions or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return False


def decode_conditions(block: bytes) -> tuple[PodCondition, ...]:
    """`status.conditions`. Raises ValueError for a time without zone."""
    decoded = []
    seen: datetime | None = None
    time: datetime | None = None
    for condition in _decode_conditions(block) or ():
        moment = condition.last_transition_time
        # Conditions mostly change together: those of one moment share one value.
        if moment != seen:
            seen, time = moment, set_time(moment)
        decoded.append(
            PodCondition(
                intern(condition.type or ""), intern(condition.status or ""), intern(condition.reason or ""), time
            )
        )
    return tuple(decoded)


class PodStatus(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What replicas of a workload mostly have in common; names as in `Pod`."""

    phase: str
    reason: str
    qos_class: str
    nominated_node_name: str
    containers: tuple[ContainerStatus, ...]
    init_containers: tuple[ContainerStatus, ...]
    ephemeral_containers: tuple[ContainerStatus, ...]
    generated_claims: Mapping[str, str] = {}


class StatusDecoder:
    """Makes `PodStatus` values; one for statuses in a row that say the same, and one for equal states of containers."""

    def __init__(self) -> None:
        self._seen: dict[tuple[ContainerStatus, ...], tuple[ContainerStatus, ...]] = {}
        self.forget()

    def forget(self) -> None:
        """Frees the bytes of the last status."""
        self._last_told = StatusWire()
        self._last = PodStatus("", "", "", "", (), (), ())

    def decode(self, told: StatusWire) -> PodStatus:
        """The value of a status, whose time and conditions are taken out; keeps `told` until the next that differs."""
        if told != self._last_told:
            self._last = PodStatus(
                phase=intern(told.phase or ""),
                reason=intern(told.reason or ""),
                qos_class=intern(told.qos_class or ""),
                nominated_node_name=intern(told.nominated_node_name or ""),
                containers=self._states(told.container_statuses),
                init_containers=self._states(told.init_container_statuses),
                ephemeral_containers=self._states(told.ephemeral_container_statuses),
                generated_claims=_generated_claims(bytes(told.resource_claim_statuses)),
            )
            self._last_told = told
        return self._last

    def _states(self, statuses: list[ContainerStatusWire] | None) -> tuple[ContainerStatus, ...]:
        """The current states, in the order given."""
        if not statuses:
            return ()
        decoded = tuple([_container_status(status) for status in statuses])
        return self._seen.setdefault(decoded, decoded)


def _container_status(status: ContainerStatusWire) -> ContainerStatus:
    state = status.state
    waiting = state.waiting if state else None
    terminated = state.terminated if state else None
    return ContainerStatus(
        restart_count=status.restart_count or 0,
        waiting_reason=None if waiting is None else waiting.reason or "",
        terminated_reason=None if terminated is None else terminated.reason or "",
        exit_code=None if terminated is None else terminated.exit_code or 0,
    )


def _generated_claims(block: bytes) -> Mapping[str, str]:
    statuses: list[_ClaimStatusWire] | None = _decode_claim_statuses(block)
    return {each.name or "": each.resource_claim_name or "" for each in statuses} if statuses else _NO_CLAIMS


class ResizeDecoder:
    """Finds the pods that hold other amounts than their specs ask for (`component-helpers/resource`, 1.36)."""

    def __init__(self) -> None:
        self._resources = BlockCache(decode_resources)
        self._quantities = BlockCache(decode_quantities)
        self._resized: dict[object, ResizedRequests | None] = {}
        self._alike: tuple[PodSpec, PodStatus] | None = None

    def decode(
        self, spec: PodSpec, status: PodStatus, asked: PodSpecWire, told: StatusWire, conditions: bytes
    ) -> ResizedRequests | None:
        """What a pod holds when that differs from `spec`, the value of `asked`; `status` is that of `told`.

        The conditions of the status are given by themselves.
        """
        alike = self._alike
        if alike is not None and alike[0] is spec and alike[1] is status:
            return None
        if (
            spec.pod_level_requests
            or self._differ(told.container_statuses, asked.containers)
            or self._differ(told.init_container_statuses, asked.init_containers)
        ):
            return self._look_up(spec, asked, told, conditions)
        self._alike = spec, status
        return None

    def _differ(self, statuses: list[ContainerStatusWire] | None, containers: list[ContainerWire] | None) -> bool:
        """Whether a status reports resources in other words than its container asks for them."""
        for status in statuses or ():
            if status.resources is ABSENT:
                continue
            for container in containers or ():
                if container.name == status.name:
                    if status.resources != container.resources:
                        return True
                    if status.allocated_resources is not ABSENT:
                        requests = self._resources[bytes(container.resources)].requests
                        if self._quantities[bytes(status.allocated_resources)] != requests:
                            return True
        return False

    def _look_up(
        self, spec: PodSpec, asked: PodSpecWire, told: StatusWire, conditions: bytes
    ) -> ResizedRequests | None:
        reported = {
            s.name: (bytes(s.resources), bytes(s.allocated_resources))
            for s in (*(told.container_statuses or ()), *(told.init_container_statuses or ()))
            if s.resources is not ABSENT and bytes(s.resources) != _NULL
        }
        pod_level = bytes(told.resources) if spec.pod_level_requests else _NULL
        if not reported and pod_level == _NULL:
            return None
        found = tuple([reported.get(container.name) for container in asked.containers or ()])
        # Init containers that end are charged with what they ask for, whatever they were given.
        found += tuple(
            [reported.get(c.name) if c.restart_policy == SIDECAR else None for c in asked.init_containers or ()]
        )
        is_infeasible = _is_resize_infeasible(conditions)
        key = (id(spec), found, pod_level, bytes(told.allocated_resources), is_infeasible)
        if key not in self._resized:
            self._resized[key] = self._make(spec, found, told, is_infeasible=is_infeasible)
        return self._resized[key]

    def _make(
        self, spec: PodSpec, found: Sequence[tuple[bytes, bytes] | None], told: StatusWire, *, is_infeasible: bool
    ) -> ResizedRequests | None:
        held = [
            self._held(container, reported, is_infeasible=is_infeasible)
            for container, reported in zip((*spec.containers, *spec.init_containers), found, strict=True)
        ]
        containers, init = held[: len(spec.containers)], held[len(spec.containers) :]
        pod_level = spec.pod_level_requests
        if pod_level and bytes(told.resources) != _NULL:
            held_by_pod = highest(
                (
                    {} if is_infeasible else pod_level,
                    self._resources[bytes(told.resources)].requests,
                    self._quantities[bytes(told.allocated_resources)],
                )
            )
            # What a pod does not ask for itself stays the sum over its containers, whatever its status reports.
            pod_level = {name: held_by_pod.get(name, 0) for name in pod_level}
        requests = pod_requests(containers, init, pod_level=pod_level, overhead=spec.overhead)
        scoring = scoring_requests(
            containers, init, pod_level=pod_level, overhead=spec.overhead, has_pod_level=bool(spec.pod_level_requests)
        )
        if requests == spec.requests and scoring == spec.scoring_requests:
            return None
        return ResizedRequests(requests, scoring)

    def _held(
        self, container: ContainerResources, reported: tuple[bytes, bytes] | None, *, is_infeasible: bool
    ) -> ContainerResources:
        """What a container holds: the most of what it asks for, was promised and was given."""
        if reported is None:
            return container
        lists = [self._resources[reported[0]].requests, self._quantities[reported[1]]]
        if not is_infeasible:
            lists.append(container.requests)
        return ContainerResources(highest(lists), container.limits, container.is_sidecar)


def _is_resize_infeasible(block: bytes) -> bool:
    if b"PodResizePending" not in block and b"\\u" not in block:
        return False
    conditions: list[ConditionWire] | None = _decode_conditions(block)
    for condition in conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False
