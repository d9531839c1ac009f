"""From the try of a replacement to its landing: the verdict, and the words for it."""

from __future__ import annotations

from descheduler.placement.framework.evaluation import Evaluation
from descheduler.placement.framework.feasibility import Attempt, Placement
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["differing_revisions", "landed", "not_landed", "verdict_of"]

_UNSCORED = "several nodes would take its replacement, but a preferred term of it cannot be read, so it is never placed"


def verdict_of(evaluation: Evaluation) -> LandingVerdict:
    """What the filters alone say."""
    if evaluation.fits:
        return LandingVerdict.LANDS
    return LandingVerdict.UNKNOWN if ObstacleCounts(evaluation).is_undecided else LandingVerdict.NO


def landed(
    unplaced: UnplacedReplacement,
    placement: Placement,
    cluster: ShadowCluster,
    *,
    cold: LandingVerdict | None,
    conditions: tuple[str, ...] = (),
) -> Landing:
    """The landing of a placed replacement, which depends on `conditions` beside those found when it was placed.

    `cold` is None where the replacement comes when its victim is gone, so that there is one clock only.
    """
    choice, names = placement.choice, cluster.table.names
    conditions = (*placement.conditions, *conditions)
    settled = LandingVerdict.LANDS_IF if conditions else LandingVerdict.LANDS
    return Landing(
        unplaced.victim,
        unplaced.replacement,
        verdict=settled,
        cold=settled if cold is None else cold,
        settled=settled,
        node=names[placement.node],
        ties=tuple([names[node] for node in choice.ties]),
        total=choice.total,
        margin=choice.margin,
        is_sampled=choice.is_sampled,
        conditions=conditions,
    )


def not_landed(unplaced: UnplacedReplacement, evaluation: Evaluation, *, cold: LandingVerdict | None) -> Landing:
    """The landing of a replacement that was not placed after `evaluation`."""
    obstacles = ObstacleCounts(evaluation)
    is_unknown = not evaluation.fits and obstacles.is_undecided
    settled = LandingVerdict.UNKNOWN if is_unknown else LandingVerdict.NO
    counts = {} if evaluation.fits else obstacles.by_reason()
    return Landing(
        unplaced.victim,
        unplaced.replacement,
        verdict=settled,
        cold=settled if cold is None else cold,
        settled=settled,
        message=_message(evaluation, settled),
        obstacles=counts,
    )


def differing_revisions(
    unplaced: UnplacedReplacement, attempt: Attempt, other: Evaluation, *, cold: LandingVerdict | None
) -> Landing:
    """The landing where only one of two pods that may come would be taken: it cannot be told which one comes."""
    refused = attempt.evaluation if other.fits else other
    which = "the present revision" if other.fits else "the revision that is being rolled out"
    counts = {} if refused.fits else ObstacleCounts(refused).by_reason()
    unknown = LandingVerdict.UNKNOWN
    return Landing(
        unplaced.victim,
        unplaced.replacement,
        verdict=unknown,
        cold=unknown if cold is None else cold,
        settled=unknown,
        message=f"of {which}, {_message(refused, LandingVerdict.NO)}",
        obstacles=counts,
    )


def _message(evaluation: Evaluation, settled: LandingVerdict) -> str:
    if evaluation.fits:
        return _UNSCORED
    if not evaluation.refusals:
        return ObstacleCounts(evaluation).sentence()
    reasons = "; ".join(dict.fromkeys(reason for refusal in evaluation.refusals for reason in refusal.reasons))
    if settled is LandingVerdict.UNKNOWN:
        return f"it cannot be told whether any node takes its replacement: {reasons}"
    return f"no node takes its replacement: {reasons}"
