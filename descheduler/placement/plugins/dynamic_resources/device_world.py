"""The devices of a cluster for the claims of any pod: what each node would give now, and why not.

The claim that the scheduler makes for extended resources that device classes serve mirrors
`pkg/scheduler/framework/plugins/dynamicresources/extended` of Kubernetes (1.36, 1.37).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import PodSpec
from descheduler.model.quantity import ceil_value
from descheduler.model.requests import ContainerResources
from descheduler.model.resource_claims import (
    AllocationResult,
    ClaimSpec,
    DeviceClass,
    DeviceId,
    DeviceRequest,
    RequestedDevices,
)
from descheduler.model.selection.taints import NO_EXECUTE, seconds_tolerated
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants
from descheduler.placement.plugins.dynamic_resources.pod_claims import NamedClaim
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, DevicePools, PoolKey
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.search.allocation import AllocationOutcome, NodeAnswer, allocate
from descheduler.placement.plugins.dynamic_resources.search.shortages import device_shortages
from descheduler.placement.plugins.dynamic_resources.usage import DeviceUsage
from descheduler.placement.plugins.helper.device_resources import ServedResources
from descheduler.placement.shadow.shadow_cluster import ShadowCluster


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


_MOST_KEPT = 256
"""Lists of claims whose answers are kept, one a node."""
_NO_TIME = "no toleration with effect: NoExecute holds that off"
_MOST_STEPS, _FEW_STEPS, _MOST_LONG = 100_000, 100, 3
"""Devices that are tried for claims on a node; few after so many searches for the same claims were given up."""


class DeviceWorld:
    """The devices of a cluster and who has them, as one scheduler goes by them."""

    def __init__(self, cluster: ShadowCluster, rules: DeviceRules, served: ServedResources) -> None:
        self.nodes = cluster.table.nodes
        self.grants = cluster.follow(ClaimGrants)
        self.catalog = self.grants.catalog
        self.pools = self.catalog.pools(rules)
        self.by_resource = served.classes
        self.contested = served.contested
        self.now = cluster.snapshot.taken_at
        self._rules = rules
        self._columns: dict[tuple[int, ...], _Column] = {}
        self._num_given_up: Counter[tuple[int, ...]] = Counter()
        self._concerned: _Concerned | None = None

    def asked(self, claim: NamedClaim) -> AskedClaim:
        """What a claim asks for, compiled once for all claims of its content."""
        return self.catalog.asked(claim.spec)

    def made_spec(self, pod: PodSpec, resources: Sequence[str]) -> ClaimSpec:
        """The claim that the scheduler makes for extended resources of a pod, one object for all of its content.

        `asked` keeps what it was asked for, which would grow with every verdict otherwise.
        """
        return self.catalog.first_alike(claim_of_extended_resources(pod, resources, self.by_resource))

    def answers(self, claims: Sequence[AskedClaim]) -> tuple[list[NodeAnswer], NDArray[np.uint8]]:
        """What the claims would get on each node as it is now, and the outcomes; for the caller alone to keep.

        It is looked for again only where a device in sight, or a counter, has come into use or is free again.
        """
        key = tuple(map(id, claims))
        column = self._columns.get(key)
        usage = self.grants.usage
        if column is None or column.epoch != usage.epoch:
            if len(self._columns) >= _MOST_KEPT:
                self._columns.clear()
            column = self._columns[key] = _Column(len(self.nodes))
            stale: Iterable[int] = range(len(self.nodes))
        else:
            stale = self._concerned_by({*usage.changed[column.num_seen :]})
        for node, answer in self._allocate(claims, stale):
            column.answers[node], column.outcomes[node] = answer, answer.code
        column.epoch, column.num_seen = usage.epoch, len(usage.changed)
        return column.answers.copy(), column.outcomes.copy()

    def shortages(self, claims: Sequence[NamedClaim], node: int) -> Iterator[str]:
        """Why a node has too few devices for claims, each a sentence."""
        asked, where = [(each.title, self.asked(each)) for each in claims], self.nodes[node]
        yield from device_shortages(asked, where, self.pools.seen_from(where), self.grants.usage, self._rules)

    def deletions(self, results: Iterable[AllocationResult]) -> Iterator[str]:
        """For which taints of these devices pods are deleted that have them, each a sentence."""
        for result in results:
            for taint in self.pools.taints_of(result.device):
                seconds = seconds_tolerated(result.tolerations, taint) if taint.effect == NO_EXECUTE else None
                if seconds is not None:
                    why = f"tolerationSeconds: {seconds}" if seconds else _NO_TIME
                    what = f"taint {taint.key} of device {'/'.join(result.device)}"
                    yield f"kube-controller-manager deletes the pod again for {what} ({why})"

    def would_fit(self, claims: Sequence[AskedClaim], node: int) -> bool:
        """Whether a node would have the devices for claims if none were in use."""
        return self._search(claims, node, DeviceUsage()).outcome is AllocationOutcome.FITS

    def _allocate(self, claims: Sequence[AskedClaim], nodes: Iterable[int]) -> Iterator[tuple[int, NodeAnswer]]:
        """What each of the nodes has for the claims; nodes that see the same devices are asked once."""
        known: dict[Sequence[DevicePool], NodeAnswer] = {}
        for place in nodes:
            seen = self.pools.seen_from(self.nodes[place])
            answer = known.get(seen)
            if answer is None:
                answer = self._search(claims, place, self.grants.usage)
                if all(pool.is_alike for pool in seen):
                    known[seen] = answer
            yield place, answer

    def _search(self, claims: Sequence[AskedClaim], node: int, usage: DeviceUsage) -> NodeAnswer:
        """What one node has for the claims beside what is in use."""
        key = tuple(map(id, claims))
        most_steps = _MOST_STEPS if self._num_given_up[key] < _MOST_LONG else _FEW_STEPS
        answer = allocate(claims, self.nodes[node], self.pools, usage, self._rules, most_steps)
        if answer.is_given_up:
            self._num_given_up[key] += 1
        return answer

    def _concerned_by(self, changed: Iterable[DeviceId]) -> Iterable[int]:
        """The nodes that may have others for a claim now."""
        if self._concerned is None:
            self._concerned = _Concerned(self.nodes, self.pools)
        return self._concerned.by(changed)


class _Column:
    """Answers by node, and codes of their outcomes; `num_seen` changes of an `epoch` are worked in."""

    __slots__ = ("answers", "epoch", "num_seen", "outcomes")

    def __init__(self, num_nodes: int) -> None:
        self.answers = [NodeAnswer(AllocationOutcome.UNKNOWN)] * num_nodes
        self.outcomes = np.zeros(num_nodes, dtype=np.uint8)
        self.epoch = self.num_seen = 0


class _Concerned:
    """Which nodes a device concerns: those that see it, and those that see counters of its pool."""

    def __init__(self, nodes: Sequence[Node], pools: DevicePools) -> None:
        self._by_device: dict[DeviceId, list[list[int]]] = {}
        self._by_counters: dict[PoolKey, list[list[int]]] = {}
        seeing: dict[DevicePool, list[int]] = {}
        for place, node in enumerate(nodes):
            for pool in pools.seen_from(node):
                seeing.setdefault(pool, []).append(place)
        for pool, places in seeing.items():
            if pool.consumers:
                self._by_counters.setdefault(pool.key, []).append(places)
            for device in pool.devices:
                self._by_device.setdefault(device.id, []).append(places)

    def by(self, devices: Iterable[DeviceId]) -> Iterable[int]:
        """The nodes that any of the devices concerns, each once."""
        found: dict[int, list[int]] = {}
        for each in devices:
            for places in self._by_device.get(each, ()):
                found[id(places)] = places
            for places in self._by_counters.get(PoolKey(each.driver, each.pool), ()):
                found[id(places)] = places
        return {place for places in found.values() for place in places}
