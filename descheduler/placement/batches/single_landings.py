"""What each placement class of a batch would find were it alone: all victims gone, and no other replacement there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.landings.verdicts import verdict_of
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass

SPREAD = "PodTopologySpread"


class SingleLanding(msgspec.Struct, frozen=True, eq=False):
    """The answer for one class: `feasible` nodes, those `open` to it for good, and those it `may` get.

    The last are the ones that no plugin refuses but those which others of the batch may appease, and `beside_spread`
    those that none refuses but PodTopologySpread. `refusal` is a sentence where either has none.
    `credit` is the room that the class gets on top of what is free; `sees_more` says that its scheduler counts more
    than the pods of the cluster.
    """

    verdict: LandingVerdict
    feasible: BoolMask
    open: BoolMask
    may: BoolMask
    beside_spread: BoolMask
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


def _single_landing(unplaced: UnplacedReplacement) -> SingleLanding:
    evaluation = unplaced.evaluate()
    is_open = evaluation.open_for_good()
    may = unplaced.scheduler.openable(evaluation)
    refusal = "" if may.any() and is_open.any() else unplaced.scheduler.obstacles(evaluation).sentence()
    cycle = evaluation.cycle
    return SingleLanding(
        verdict_of(unplaced, evaluation),
        evaluation.feasible,
        is_open,
        may,
        _beside_spread(evaluation),
        refusal,
        credit=cycle.credit,
        sees_more=bool(cycle.seen),
    )


def _beside_spread(evaluation: PodEvaluation) -> BoolMask:
    against = evaluation.bits.get(SPREAD)
    if against is None or evaluation.refusals:
        return evaluation.feasible
    is_open = evaluation.asked()
    for name, bits in evaluation.bits.items():
        if name != SPREAD:
            is_open &= bits == 0
    return is_open
