"""Extended resources that device classes serve: which class, and the claim that the scheduler makes for a pod.

Mirrors `pkg/scheduler/framework/plugins/dynamicresources/extended` of Kubernetes (1.36, 1.37).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from descheduler.model.pod import PodSpec
from descheduler.model.quantity import ceil_value
from descheduler.model.requests import ContainerResources
from descheduler.model.resource_claims import ClaimSpec, DeviceClass, DeviceRequest, RequestedDevices

__all__ = ["IMPLICIT", "claim_of_extended_resources", "classes_by_resource"]

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""What comes before the name of a class in the resource that it serves without naming one."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def classes_by_resource(classes: Iterable[DeviceClass]) -> Mapping[str, DeviceClass]:
    """Extended resource → the class that serves it: the youngest, of several the first by name.

    A class whose resource an older class keeps is not entered under its own name either, as in a scheduler that reads
    the classes in the order of their names.
    """
    found: dict[str, DeviceClass] = {}
    for each in sorted(classes, key=lambda each: each.name):
        if each.extended_resource:
            holder = found.get(each.extended_resource)
            if holder is not None and (each.created_at or _LONG_AGO) <= (holder.created_at or _LONG_AGO):
                continue
            found[each.extended_resource] = each
        found[IMPLICIT + each.name] = each
    return found


class _Container(NamedTuple):
    """A container by its place among all of a pod; `is_lasting` of one that runs as long as the pod."""

    index: int
    resources: ContainerResources
    is_lasting: bool

    def number(self, resource: str) -> int:
        """How many of the resource it requests."""
        return ceil_value(self.resources.requests.get(resource, 0))

    def request_name(self, resource: str) -> str:
        """The name of its request of the resource in the claim."""
        return f"container-{self.index}-request-{sorted(self.resources.requests).index(resource)}"


def claim_of_extended_resources(
    spec: PodSpec, resources: Sequence[str], classes: Mapping[str, DeviceClass]
) -> ClaimSpec:
    """The claim that the scheduler makes for a pod where a class serves each of `resources`."""
    requests = [request for name in resources for request in _requests(spec, name, classes[name].name)]
    return ClaimSpec(tuple(sorted(requests, key=lambda request: request.name)))


def _requests(spec: PodSpec, resource: str, device_class: str) -> Iterator[DeviceRequest]:
    containers = _containers(spec)
    for container in containers:
        if container.is_lasting and container.number(resource):
            yield _request(container.request_name(resource), device_class, container.number(resource))
    # Init containers run one after the other, and have what containers after them do not use yet.
    missing = [
        container.number(resource)
        - sum(each.number(resource) for each in containers if each.is_lasting and each.index > container.index)
        for container in containers
        if not container.is_lasting
    ]
    most = max(missing, default=0)
    if most > 0:
        passing = [container for container in containers if not container.is_lasting]
        yield _request(passing[missing.index(most)].request_name(resource), device_class, most)


def _containers(spec: PodSpec) -> list[_Container]:
    found = [_Container(index, each, each.is_sidecar) for index, each in enumerate(spec.init_containers)]
    return found + [_Container(len(found) + index, each, True) for index, each in enumerate(spec.containers)]


def _request(name: str, device_class: str, number: int) -> DeviceRequest:
    return DeviceRequest(name, (RequestedDevices("", device_class, number=number),))
