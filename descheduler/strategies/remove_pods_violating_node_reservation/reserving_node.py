"""A node with a reservation, which of its pods occupy what is reserved, and which of them have to go.

They go until the requests of the node's pods do not go beyond what the reservation leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec

from descheduler.cluster.decoding.koordinator.node_topology import decode_pinned_cpus
from descheduler.model.annotations import RESOURCE_STATUS_ANNOTATION
from descheduler.model.koordinator.node_reports import NodeTopology
from descheduler.model.node import BATCH_RESOURCES, NODE_RESERVATION_ANNOTATION, Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import PODS, ResourceList, ceil_amount
from descheduler.model.text.amounts import amounts_text
from descheduler.model.text.numbers import cpu_list_text


def requests_any(pod: Pod, amounts: Mapping[str, int]) -> bool:
    """Whether `pod` requests one of the resources of `amounts`."""
    held = held_by(pod)
    return any(held.get(name, 0) for name in amounts)


class ClosedCpus(msgspec.Struct, frozen=True):
    """The CPUs of a node that no pod may be pinned to, and what is known of where pods are pinned.

    `source` names what states the CPUs: a key of the annotation, or the object that koordlet writes.
    """

    cpus: frozenset[int]
    source: str
    topology: NodeTopology

    @classmethod
    def of(cls, node: Node, topology: NodeTopology | None) -> ClosedCpus:
        """Those that the reservation of `node` names, else those that koordlet chose for the amount that it states."""
        known = topology or NodeTopology(node.name)
        named = node.reservation.cpus if node.reservation is not None else frozenset[int]()
        if named:
            return cls(named, "reservedCPUs", known)
        return cls(known.reserved_cpus, "reservedCPUs of NodeResourceTopology", known)

    @property
    def text(self) -> str:
        """The CPUs for people, with what states them."""
        return f"{self.source}: {cpu_list_text(self.cpus)}"

    def overlap(self, pod: Pod) -> frozenset[int]:
        """The CPUs that `pod` is pinned to, of those for people."""
        return pinned_cpus(pod, self.topology) & self.cpus if self.cpus else self.cpus


class ReservingNode(msgspec.Struct, frozen=True):
    """The node as it was before evictions. `closed` is None where pinned pods do not matter.

    `stated` differs when the reservation does: its amounts, its CPUs and its policy.

    `owners` are the identities of pods whose requests Reservations hold, so that evicting them frees nothing.
    """

    name: str
    shortage: ReservedShortage
    closed: ClosedCpus | None
    owners: frozenset[int] = frozenset()
    stated: object = None

    def overlap(self, pod: Pod) -> frozenset[int]:
        """The reserved CPUs that `pod` is pinned to."""
        return frozenset() if self.closed is None else self.closed.overlap(pod)

    def is_occupied_by(self, pod: Pod) -> bool:
        """Whether `pod` is pinned to reserved CPUs, or requests some of what the node is short of."""
        frees = id(pod) not in self.owners and requests_any(pod, self.shortage.amounts)
        return bool(self.overlap(pod)) or frees

    def reason(self, pod: Pod) -> str:
        """Why `pod`, which occupies what is reserved, is to leave."""
        if self.closed is not None and (overlap := self.closed.overlap(pod)):
            pinned = f"{'CPU' if len(overlap) == 1 else 'CPUs'} {cpu_list_text(overlap)}"
            return f"pinned to {pinned} of node {self.name} ({self.closed.text})"
        return (
            f"requests on node {self.name} exceed allocatable minus reserved by {self.shortage.text} "
            f"(annotation {NODE_RESERVATION_ANNOTATION})"
        )

    def miss(self, pod: Pod) -> str:
        """Why `pod` does not occupy what is reserved."""
        if self.shortage.amounts and id(pod) in self.owners:
            return f"uses a Reservation, which keeps the resources of the pod reserved on node {self.name}"
        if self.shortage.amounts:
            return f"requests nothing that node {self.name} is short of: {self.shortage.text}"
        cpus = cpu_list_text(self.closed.cpus) if self.closed is not None else ""
        pinned = f", and the pod is not pinned to reserved CPUs {cpus}" if cpus else ""
        return f"requests on node {self.name} do not exceed allocatable minus reserved{pinned}"


def pinned_cpus(pod: Pod, topology: NodeTopology) -> frozenset[int]:
    """The CPUs of annotation `scheduling.koordinator.sh/resource-status`, or else those that the kubelet, by `topology`
    of the node, has pinned `pod` to; none for a pod that shares CPUs."""
    text = pod.annotations.get(RESOURCE_STATUS_ANNOTATION)
    noted = decode_pinned_cpus(text) if text else frozenset[int]()
    return noted or topology.kubelet_pods.get(pod.uid, noted)


def held_by(pod: Pod) -> ResourceList:
    """What the scheduler counts for `pod` on its node, in nano units; one of `pods`."""
    requests = pod.spec.requests if pod.resized is None else pod.resized.requests
    return {**requests, PODS: NANO}


class ReservedShortage:
    """What `pods` of `node` request above what is left for them, of each reserved resource.

    `amounts` are in nano units and positive. Batch resources are left out: koord-manager takes the reservation out of
    them itself. `resources` keeps to some; all of the reservation count where there are none. `others` is what is held
    beside the pods, which no eviction frees.
    """

    def __init__(
        self, node: Node, pods: Sequence[Pod], resources: Iterable[str] = (), others: ResourceList | None = None
    ) -> None:
        self._others = others or {}
        held = [self._others, *(held_by(pod) for pod in pods)]
        self._limits = {name: node.for_pods.get(name, 0) for name in _withheld(node, frozenset(resources))}
        self._occupied = {name: sum(each.get(name, 0) for each in held) for name in self._limits}
        self.amounts = {
            name: self._occupied[name] - limit for name, limit in self._limits.items() if self._occupied[name] > limit
        }

    @property
    def text(self) -> str:
        """The amounts for people."""
        return amounts_text((name, ceil_amount(name, nano)) for name, nano in self.amounts.items())

    def reducible(self, stuck: Iterable[Pod]) -> dict[str, int]:
        """Its amounts, without the resources of which the pods that cannot leave alone request more than there is."""
        held = [self._others, *(held_by(pod) for pod in stuck)]
        return {
            name: nano
            for name, nano in self.amounts.items()
            if sum(each.get(name, 0) for each in held) <= self._limits[name]
        }

    def cover(self, amounts: Mapping[str, int]) -> Callable[[Pod], int]:
        """How much a pod covers of the dominant one of `amounts`: the largest beside what is requested of it."""
        dominant = max(amounts, key=lambda name: Fraction(amounts[name], self._occupied[name]))
        return lambda pod: min(amounts[dominant], held_by(pod).get(dominant, 0))


def enough_of(pods: Sequence[Pod], amounts: Mapping[str, int]) -> list[Pod]:
    """The `pods`, in order of leaving, that free `amounts` (in nano units), or as much of them as can be freed.

    Pods are taken until that is reached; then those that turn out not to be needed are spared, the last of them first.
    None of them is without a request of what is still short when its turn comes.
    """
    left = dict(amounts)
    chosen: list[Pod] = []
    for pod in pods:
        if any(nano > 0 and held_by(pod).get(name, 0) for name, nano in left.items()):
            chosen.append(pod)
            _add(left, pod, -1)
    for pod in chosen[::-1]:
        _add(left, pod, 1)
        if all(nano <= 0 for nano in left.values()):
            chosen.remove(pod)
        else:
            _add(left, pod, -1)
    return chosen


def _add(amounts: dict[str, int], pod: Pod, sign: int) -> None:
    held = held_by(pod)
    for name in amounts:
        amounts[name] += sign * held.get(name, 0)


def _withheld(node: Node, resources: frozenset[str]) -> list[str]:
    """The resources of which an amount is reserved."""
    reservation = node.reservation
    if reservation is None or not reservation.withholds_amounts:
        return []
    names = sorted(name for name, nano in reservation.amounts.items() if nano > 0 and name not in BATCH_RESOURCES)
    return [name for name in names if not resources or name in resources]
