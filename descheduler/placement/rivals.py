"""Pending pods that stand in the way of a replacement: where it would land without them."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.placement.attempts import Placement, place
from descheduler.placement.members import Member
from descheduler.placement.obstacles import open_for_good
from descheduler.placement.pending import Competitor, PendingPods
from descheduler.placement.scheduling import Evaluation
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["RivalFinder", "Rivalry", "rival_condition"]

_MOST_LIFTED = 100


class Rivalry(NamedTuple):
    """A pending pod that takes the room of a replacement, and where the replacement goes otherwise."""

    rival: Competitor
    placement: Placement

    @property
    def condition(self) -> str:
        """The sentence for the operator."""
        return rival_condition(self.rival)


def rival_condition(rival: Competitor) -> str:
    """What a landing hangs on where `rival` is in its way."""
    return f"pending pod {rival.pod.key} may take its room first"


class RivalFinder:
    """Finds rivals among the pending pods that were placed."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods) -> None:
        self._cluster = cluster
        self._pending = pending

    def rivalry(self, member: Member, evaluation: Evaluation) -> Rivalry | None:
        """The rival without which `member`, which no node takes after `evaluation`, would land; None without one.

        All pending pods on nodes that may ever take it are lifted at once, the last hundred at most.
        """
        if not self._pending.placed:
            return None
        with self._cluster.what_if():
            self._pending.lift(open_for_good(member.scheduler, evaluation), _MOST_LIFTED)
            placement = place(member.scheduler, member.pod).placement
        if placement is None:
            return None
        placed = self._pending.placed
        rival = next((competitor for competitor in reversed(placed) if competitor.node == placement.node), placed[-1])
        return Rivalry(rival, placement)
