"""What each placement class of a batch would find were it alone: all victims gone, and no other replacement there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework.interactions import EqualPods, interact_across_nodes
from descheduler.placement.framework.obstacle_counts import ObstacleCounts, open_for_good
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.landings.verdicts import verdict_of
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["SingleLanding", "has_spare_nodes_for_all", "single_landings"]

_HOSTNAME = "kubernetes.io/hostname"


class SingleLanding(msgspec.Struct, frozen=True, eq=False):
    """The answer for one class: `feasible` nodes, those `open` to it for good, and those it `may` get.

    The last are the ones that no plugin refuses but those which others of the batch may appease. `refusal` is a
    sentence where there is no such node. `credit` is the room that the class gets on top of what is free; `sees_more`
    says that its scheduler counts more than the pods of the cluster.
    """

    verdict: LandingVerdict
    feasible: BoolMask
    open: BoolMask
    may: BoolMask
    refusal: str
    credit: Mapping[int, NDArray[np.int64]]
    sees_more: bool


def single_landings(replacements: Iterable[UnplacedReplacement]) -> dict[PlacementClass, SingleLanding]:
    """The answers for the classes of `replacements`, with the cluster as it is now."""
    found: dict[PlacementClass, SingleLanding] = {}
    for unplaced in replacements:
        if unplaced.placement_class not in found:
            found[unplaced.placement_class] = _single_landing(unplaced)
    return found


def has_spare_nodes_for_all(
    replacements: list[UnplacedReplacement], singles: dict[PlacementClass, SingleLanding], cluster: ShadowCluster
) -> bool:
    """Whether every order lands all replacements, because each has more nodes than the others can ever close to it.

    Where placements bear on the node alone that they are on, each of the others closes one node at most.
    """
    hosts = cluster.table.label(_HOSTNAME)
    if len(hosts.values) != int((hosts.ids >= 0).sum()):
        return False
    if any(int(each.feasible.sum()) < len(replacements) for each in singles.values()):
        return False
    number_by_class = Counter(unplaced.placement_class for unplaced in replacements)
    scheduler_by_class = {unplaced.placement_class: unplaced.scheduler for unplaced in replacements}
    return not interact_across_nodes(
        [EqualPods(each.pod, number, scheduler_by_class[each].interactions) for each, number in number_by_class.items()]
    )


def _single_landing(unplaced: UnplacedReplacement) -> SingleLanding:
    evaluation = unplaced.evaluate()
    is_open = open_for_good(unplaced.scheduler, evaluation)
    may = evaluation.feasible
    helpers = unplaced.scheduler.interactions.helpers(unplaced.pod)
    if helpers and not evaluation.refusals:
        may = is_open & ~ObstacleCounts(evaluation).of_others(helpers)
    refusal = ""
    if not may.any():
        refusal = ObstacleCounts(evaluation).sentence()
    cycle = evaluation.cycle
    return SingleLanding(
        verdict_of(unplaced, evaluation),
        evaluation.feasible,
        is_open,
        may,
        refusal,
        credit=cycle.credit,
        sees_more=bool(cycle.seen),
    )
