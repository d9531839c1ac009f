"""How pods that are placed one after another bear on each other by Reservations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meeting, OnOwnNode
from descheduler.placement.plugins.reservation.holdings import Holdings
from descheduler.placement.plugins.reservation.pod_protocol import AFFINITY_ANNOTATION

__all__ = ["ReservationInteractions"]


class ReservationInteractions(OnOwnNode):
    """A Reservation for a single pod is gone once that pod is placed, and what it leaves over is free for others.

    One that waits for a node may come to hold room for a pod that needs it. All this is felt on one node only: that of
    the Reservation. `holdings` is None where there are none.
    """

    def __init__(self, holdings: Holdings | None) -> None:
        held = () if holdings is None else holdings.held
        # What the snapshot has counts, for this is asked about pods that wait while others are placed.
        self._owners = [owner for each in held for owner in each.reservation.owners]
        self._is_one_used_up = any(each.is_used_once and not each.is_spent for each in held)
        self._is_one_waiting = any(each.reservation.is_pending for each in held)

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether any Reservation may be used up by one pod, or one be bound that `pod` could ask for."""
        return self._is_one_used_up or (self._is_one_waiting and AFFINITY_ANNOTATION in pod.annotations)

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All, to those that may use a Reservation, or need one, of which each may take more than it requests."""
        yield np.arange(len(gathered.pods)), gathered.where(self._may_use_one)

    def _may_use_one(self, pod: Pod) -> bool:
        return AFFINITY_ANNOTATION in pod.annotations or any(owner.matches(pod) for owner in self._owners)
