"""The claim that the scheduler makes for the extended resources of a pod that device classes serve.

Mirrors `pkg/scheduler/framework/plugins/dynamicresources/extended` of Kubernetes (1.36, 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from descheduler.model.pod import PodSpec
from descheduler.model.quantity import ceil_value
from descheduler.model.requests import ContainerResources
from descheduler.model.resource_claims import ClaimSpec, DeviceClass, DeviceRequest, RequestedDevices

__all__ = ["claim_of_extended_resources"]


class _Container(NamedTuple):
    """A container by its place among all of a pod; `is_lasting` of one that runs as long as the pod."""

    place: int
    resources: ContainerResources
    is_lasting: bool

    def number(self, resource: str) -> int:
        """How many of the resource it requests."""
        return ceil_value(self.resources.requests.get(resource, 0))

    def request_name(self, resource: str) -> str:
        """The name of its request of the resource in the claim."""
        return f"container-{self.place}-request-{sorted(self.resources.requests).index(resource)}"


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
        - sum(each.number(resource) for each in containers if each.is_lasting and each.place > container.place)
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
