"""A node with a reservation, and which of its pods occupy what is reserved."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.koordinator.node_topology import decode_pinned_cpus
from descheduler.model.annotations import RESOURCE_STATUS_ANNOTATION
from descheduler.model.koordinator.node_reports import NodeTopology
from descheduler.model.node import NODE_RESERVATION_ANNOTATION, Node
from descheduler.model.pod import Pod
from descheduler.model.text.numbers import cpu_list_text
from descheduler.strategies.remove_pods_violating_node_reservation.shortage import ReservedShortage, held_by

__all__ = ["ClosedCpus", "ReservingNode", "requests_any"]


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
