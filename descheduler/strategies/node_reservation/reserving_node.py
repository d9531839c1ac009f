"""A node with a reservation, and which of its pods occupy what is reserved."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.cpu_list import cpu_list_text
from descheduler.model.node_reservation import NODE_RESERVATION_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.strategies.node_reservation.pinned_cpus import pinned_cpus
from descheduler.strategies.node_reservation.shortage import Shortage, held_by

__all__ = ["ReservingNode", "requests_any"]


def requests_any(pod: Pod, amounts: Mapping[str, int]) -> bool:
    """Whether `pod` requests one of the resources of `amounts`."""
    held = held_by(pod)
    return any(held.get(name, 0) for name in amounts)


class ReservingNode(msgspec.Struct, frozen=True):
    """The node as it was before evictions. No pod may be pinned to `cpus`.

    `owners` are the identities of pods whose requests Reservations hold, so that evicting them frees nothing.
    """

    name: str
    shortage: Shortage
    cpus: frozenset[int]
    owners: frozenset[int] = frozenset()

    def overlap(self, pod: Pod) -> frozenset[int]:
        """The reserved CPUs that `pod` is pinned to."""
        return pinned_cpus(pod) & self.cpus if self.cpus else self.cpus

    def is_occupied_by(self, pod: Pod) -> bool:
        """Whether `pod` is pinned to reserved CPUs, or requests some of what the node is short of."""
        frees = id(pod) not in self.owners and requests_any(pod, self.shortage.amounts)
        return bool(self.overlap(pod)) or frees

    def reason(self, pod: Pod) -> str:
        """Why `pod`, which occupies what is reserved, is to leave."""
        if overlap := self.overlap(pod):
            pinned = f"{'CPU' if len(overlap) == 1 else 'CPUs'} {cpu_list_text(overlap)}"
            return f"pinned to {pinned} of node {self.name} (reservedCPUs: {cpu_list_text(self.cpus)})"
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
        pinned = f", and the pod is not pinned to reserved CPUs {cpu_list_text(self.cpus)}" if self.cpus else ""
        return f"requests on node {self.name} do not exceed allocatable minus reserved{pinned}"
