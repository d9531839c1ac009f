"""What a pod holds while its status reports other amounts than its spec asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.blocks import BlockCache, decode_quantities, decode_resources
from descheduler.cluster.decoding.pods.status import PodStatus
from descheduler.cluster.decoding.wire import (
    ABSENT,
    ConditionWire,
    ContainerStatusWire,
    ContainerWire,
    PodSpecWire,
    StatusWire,
)
from descheduler.model.pod import PodSpec
from descheduler.model.requests import (
    CPU,
    MEMORY,
    NO_REQUESTS,
    ContainerResources,
    ResizedRequests,
    ResourceList,
    highest,
    pod_level_requests,
    pod_requests,
    scoring_defaults,
    scoring_requests,
)

_NULL = b"null"
_NOT_REPORTED = (_NULL, _NULL)
_decode_conditions = msgspec.json.Decoder(list[ConditionWire] | None).decode


class _Reported(NamedTuple):
    """What a status reports of a container, or of the pod as a whole: empty lists where it reports nothing.

    `has_actual` says that it reports actual resources, if only limits.
    """

    actual: ResourceList
    allocated: ResourceList
    has_actual: bool


class _Resize(NamedTuple):
    """One pod that is being resized: what is reported of its containers, init containers last, and of it as a whole."""

    spec: PodSpec
    containers: tuple[_Reported, ...]
    whole: _Reported
    is_infeasible: bool


class ResizeDecoder:
    """Finds the pods that hold other amounts than their specs ask for (`component-helpers/resource`, 1.36 and 1.37)."""

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
        alike, is_infeasible = self._alike, _is_resize_infeasible(conditions)
        if alike is not None and alike[0] is spec and alike[1] is status and not is_infeasible:
            return None
        if (
            is_infeasible
            or spec.pod_level_requests
            or told.allocated_resources is not ABSENT
            or self._differ(told.container_statuses, asked.containers)
            or self._differ(told.init_container_statuses, asked.init_containers)
        ):
            return self._look_up(spec, asked, told, is_infeasible=is_infeasible)
        self._alike = spec, status
        return None

    def _differ(self, statuses: list[ContainerStatusWire] | None, containers: list[ContainerWire] | None) -> bool:
        """Whether a status reports resources in other words than its container asks for them."""
        for status in statuses or ():
            if status.resources is ABSENT and status.allocated_resources is ABSENT:
                continue
            for container in containers or ():
                if container.name == status.name:
                    if status.resources is not ABSENT and status.resources != container.resources:
                        return True
                    if status.allocated_resources is not ABSENT:
                        requests = self._resources[bytes(container.resources)].requests
                        if self._quantities[bytes(status.allocated_resources)] != requests:
                            return True
        return False

    def _look_up(
        self, spec: PodSpec, asked: PodSpecWire, told: StatusWire, *, is_infeasible: bool
    ) -> ResizedRequests | None:
        reported = {
            s.name: (bytes(s.resources), bytes(s.allocated_resources))
            for s in (*(told.init_container_statuses or ()), *(told.container_statuses or ()))
        }
        containers = (*(asked.containers or ()), *(asked.init_containers or ()))
        found = tuple([reported.get(container.name, _NOT_REPORTED) for container in containers])
        whole = bytes(told.resources), bytes(told.allocated_resources)
        if not is_infeasible and whole == _NOT_REPORTED and all(each == _NOT_REPORTED for each in found):
            return None
        key = (id(spec), found, whole, is_infeasible)
        if key not in self._resized:
            resize = _Resize(spec, tuple(map(self._read, found)), self._read(whole), is_infeasible)
            self._resized[key] = _resized(resize)
        return self._resized[key]

    def _read(self, blocks: tuple[bytes, bytes]) -> _Reported:
        actual, allocated = blocks
        return _Reported(self._resources[actual].requests, self._quantities[allocated], actual != _NULL)


def _resized(resize: _Resize) -> ResizedRequests | None:
    spec = resize.spec
    asked = ResizedRequests(spec.requests, spec.scoring_requests)
    by_container, by_sum = _by_container(resize), _by_sum(resize)
    if by_container == by_sum:
        return None if by_container == asked else by_container
    return replace(by_container, summed=by_sum)


def _by_container(resize: _Resize) -> ResizedRequests:
    """As kube-scheduler before 1.37 counts: the most of three amounts for each container that runs."""
    spec, whole = resize.spec, resize.whole
    counted = zip((*spec.containers, *spec.init_containers), resize.containers, strict=True)
    held = [_held(container, reported, is_infeasible=resize.is_infeasible) for container, reported in counted]
    containers, init = held[: len(spec.containers)], held[len(spec.containers) :]
    # Init containers that end are charged with what they ask for, whatever they were given.
    init = [now if now.is_sidecar else asked for now, asked in zip(init, spec.init_containers, strict=True)]
    pod_level = spec.pod_level_requests
    if pod_level and whole.has_actual:
        held_by_pod = _most_of_pod(resize)
        # What a pod does not ask for itself stays the sum over its containers, whatever its status reports.
        pod_level = {name: held_by_pod.get(name, 0) for name in pod_level}
    return ResizedRequests(
        pod_requests(containers, init, pod_level=pod_level, overhead=spec.overhead),
        scoring_requests(
            containers, init, pod_level=pod_level, overhead=spec.overhead, has_pod_level=bool(spec.pod_level_requests)
        ),
    )


def _held(container: ContainerResources, reported: _Reported, *, is_infeasible: bool) -> ContainerResources:
    """What a container holds: the most of what it asks for, was promised and was given."""
    if not reported.has_actual:
        return container
    asked = NO_REQUESTS if is_infeasible else container.requests
    most = highest((reported.actual, reported.allocated, asked))
    return ContainerResources(most, container.limits, container.is_sidecar)


def _by_sum(resize: _Resize) -> ResizedRequests:
    """As kube-scheduler counts from 1.37 on: the most of three sums over all containers."""
    requests = _summed(resize, NO_REQUESTS)
    defaults = scoring_defaults(requests, has_pod_level=bool(resize.spec.pod_level_requests))
    scoring = _summed(resize, defaults) if defaults else requests
    return ResizedRequests(requests, {name: scoring.get(name, 0) for name in (CPU, MEMORY)})


def _summed(resize: _Resize, defaults: ResourceList) -> dict[str, int]:
    """The requests of the pod where a container that lacks one of `defaults` is charged with it."""
    spec, whole = resize.spec, resize.whole
    asked = [container.requests for container in (*spec.containers, *spec.init_containers)]
    promised, given = [], []
    for requests, reported in zip(asked, resize.containers, strict=True):
        otherwise = NO_REQUESTS if resize.is_infeasible else requests
        promised.append(reported.allocated or otherwise)
        given.append(reported.actual or reported.allocated or otherwise)
    sums: list[ResourceList] = [] if resize.is_infeasible else [_sum(spec, asked, defaults)]
    if whole.allocated and whole.actual:
        sums += [whole.allocated, whole.actual]
    else:
        sums += [_sum(spec, promised, defaults), _sum(spec, given, defaults)]
    total = highest(sums)
    if spec.pod_level_requests:
        total.update(pod_level_requests(_most_of_pod(resize) if whole.has_actual else spec.pod_level_requests))
    for name, nano in spec.overhead.items():
        total[name] = total.get(name, 0) + nano
    return total


def _sum(spec: PodSpec, requests: Sequence[ResourceList], defaults: ResourceList) -> dict[str, int]:
    """What the containers need together where they ask for `requests`, those of init containers last."""
    asking = [
        ContainerResources(each, container.limits, container.is_sidecar)
        for each, container in zip(requests, (*spec.containers, *spec.init_containers), strict=True)
    ]
    containers, init = asking[: len(spec.containers)], asking[len(spec.containers) :]
    return pod_requests(containers, init, pod_level=NO_REQUESTS, overhead=NO_REQUESTS, defaults=defaults)


def _most_of_pod(resize: _Resize) -> dict[str, int]:
    """The most of what the pod as a whole asks for, was promised and was given."""
    asked = NO_REQUESTS if resize.is_infeasible else resize.spec.pod_level_requests
    return highest((asked, resize.whole.actual, resize.whole.allocated))


def _is_resize_infeasible(block: bytes) -> bool:
    if b"PodResizePending" not in block and b"\\u" not in block:
        return False
    conditions: list[ConditionWire] | None = _decode_conditions(block)
    for condition in conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False
