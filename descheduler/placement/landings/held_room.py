"""Replacements for which room is held on a node that somebody else than the scheduler has chosen."""

from __future__ import annotations

from descheduler.model.held_room import HeldRoom
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.feasibility import put_on_node
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.landings.verdicts import landed
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["land_in_held_room", "no_room_for"]

_NO_NODE = "node is not in the snapshot"


def land_in_held_room(unplaced: UnplacedReplacement, cluster: ShadowCluster) -> Landing:
    """The landing of `unplaced` where room is held for it; its victim is gone then, and stays if nothing lands.

    What holds the room is a pod like the replacement to the scheduler, while the victim is still there: the node has to
    take it then, and the replacement of either revision once the victim is gone. (`reserve pod` of koordinator 1.8
    `pkg/scheduler/plugins/reservation`, which passes all filters.)
    """
    node = cluster.table.index.get(unplaced.held_on)
    if node is None:
        return _not_held(unplaced, _NO_NODE)
    holding = unplaced.evaluate()
    if not holding.feasible[node]:
        return _refused(unplaced, holding, node)
    with cluster.what_if() as trial:
        cluster.remove(unplaced.victim)
        for each in filter(None, (unplaced.alternative, unplaced)):
            evaluation = each.evaluate()
            if not evaluation.feasible[node]:
                return _refused(unplaced, evaluation, node)
        placement = put_on_node(evaluation, node, _only(node, evaluation))
        trial.keep()
    return landed(unplaced, placement, cluster, cold=None)


def _only(node: int, evaluation: PodEvaluation) -> Choice:
    """No choice: it is that node. A scheduler that does not look at all nodes may still miss it."""
    return Choice(node, 0, (node,), None, is_sampled=evaluation.is_sampled)


def _refused(unplaced: UnplacedReplacement, evaluation: PodEvaluation, node: int) -> Landing:
    causes = ", ".join(evaluation.first_obstacle_on(node).short)
    return _not_held(unplaced, causes, next(iter(evaluation.refusals), None))


def _not_held(unplaced: UnplacedReplacement, causes: str, refusal: Obstacle | None = None) -> Landing:
    message = f"no room can be held for the replacement pod on {unplaced.held_on}: {causes}"
    return _nowhere(unplaced, message, refusal)


def no_room_for(unplaced: UnplacedReplacement, room: HeldRoom, causes: str) -> Landing:
    """The landing of a replacement that is not created: a pending pod has no `room` where its victim would leave."""
    message = f"pending pod {room.pod.key} would not fit on {room.node} after the eviction: {causes}"
    return _nowhere(unplaced, message)


def _nowhere(unplaced: UnplacedReplacement, message: str, refusal: Obstacle | None = None) -> Landing:
    no = LandingVerdict.NO
    return Landing(unplaced.victim, unplaced.replacement, no, no, no, message=message, refusal=refusal)
