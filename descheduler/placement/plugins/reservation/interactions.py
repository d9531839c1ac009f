"""How pods that are placed one after another bear on each other by Reservations."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.plugins.reservation.holdings import Holdings
from descheduler.placement.plugins.reservation.pod_protocol import AFFINITY_ANNOTATION
from descheduler.placement.shadow.shadow_cluster import NO_NODE

__all__ = ["ReservationInteractions"]


class ReservationInteractions:
    """A Reservation for a single pod is gone once that pod is placed, and what it leaves over is free for others.

    One that waits for a node may come to hold room for a pod that needs it. All this is felt on one node only: that of
    the Reservation. `holdings` is None where there are none.
    """

    def __init__(self, holdings: Holdings | None) -> None:
        self._holdings = holdings

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether any Reservation is used up by one pod, or one may be bound that `pod` could ask for."""
        if self._holdings is None:
            return False
        needs_one = AFFINITY_ANNOTATION in pod.annotations
        return any(
            (each.node == NO_NODE and needs_one) or (each.is_active and each.reservation.allocate_once)
            for each in self._holdings.held
        )

    def is_local(self, pod: Pod) -> bool:
        """Always: a Reservation is on one node."""
        del pod
        return True

    def is_felt_widely(self, pod: Pod) -> bool:
        """Never."""
        del pod
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Never: what either uses up is on the node that it is on."""
        del first, second
        return False
