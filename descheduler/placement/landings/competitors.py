"""Pending pods that stand in the way of a replacement: where it would land without them."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.koordinator.reservation import RESERVATION_NAME_ANNOTATION
from descheduler.placement.framework.evaluation import Evaluation
from descheduler.placement.framework.feasibility import Placement
from descheduler.placement.framework.obstacle_counts import open_for_good
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.pending_pods import Competitor, PendingPods
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["Competition", "CompetitorFinder", "competitor_condition"]

_MOST_LIFTED = 100


class Competition(NamedTuple):
    """A pending pod that takes the room of a replacement, and where the replacement goes otherwise."""

    competitor: Competitor
    placement: Placement

    @property
    def condition(self) -> str:
        """The sentence for the operator."""
        return competitor_condition(self.competitor)


def competitor_condition(competitor: Competitor) -> str:
    """What a landing hangs on where `competitor` is in its way."""
    reservation = competitor.pod.annotations.get(RESERVATION_NAME_ANNOTATION)
    what = f"pending pod {competitor.pod.key}" if reservation is None else f"pending Reservation {reservation}"
    return f"{what} may be scheduled there first"


class CompetitorFinder:
    """Finds competitors among the pending pods that were placed."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods) -> None:
        self._cluster = cluster
        self._pending = pending

    def competition(self, unplaced: UnplacedReplacement, evaluation: Evaluation) -> Competition | None:
        """The competitor without which `unplaced`, refused after `evaluation`, would land; None without one.

        All pending pods on nodes that may ever take it are lifted at once, the last hundred at most.
        """
        if not self._pending.placed:
            return None
        with self._cluster.what_if():
            self._pending.lift(open_for_good(unplaced.scheduler, evaluation), _MOST_LIFTED)
            placement = unplaced.place().placement
        if placement is None:
            return None
        placed = self._pending.placed
        competitor = next(
            (competitor for competitor in reversed(placed) if competitor.node == placement.node), placed[-1]
        )
        return Competition(competitor, placement)
