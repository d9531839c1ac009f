"""From the try of a replacement to its landing: the verdict, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import Placement
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.matched_reservations import allocations_of
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.landings.landing import Landing, LandingVerdict, worst
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.replacements.other_size import is_sized_by_autoscaler
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_UNSCORED = (
    "several nodes pass all filters, but a preferred term of the replacement pod cannot be read, so it is never"
    " scheduled"
)
_APART = "the replacement pods of its gang can only be scheduled together, and not all of them find a node"


def of_template_size(victim: Pod) -> str:
    """The condition that admission leaves the size of the template, where it gave another one to `victim`."""
    whose = "VerticalPodAutoscaler" if is_sized_by_autoscaler(victim) else "admission"
    return f"the replacement pod keeps the requests of its template ({whose} changed them for this pod)"


def of_live_size(victim: Pod) -> str:
    """The condition that admission gives the size of `victim` again."""
    whose = "VerticalPodAutoscaler" if is_sized_by_autoscaler(victim) else "admission changed them"
    return f"the replacement pod gets the requests of this pod again ({whose})"


def verdict_of(unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> LandingVerdict:
    """What the filters alone say."""
    if evaluation.fits:
        return LandingVerdict.LIKELY if unplaced.doubt or evaluation.undecided else LandingVerdict.LANDS
    return _verdict_of_refusal(unplaced, unplaced.scheduler.obstacles(evaluation))


def landed(
    unplaced: UnplacedReplacement,
    placement: Placement,
    cluster: ShadowCluster,
    *,
    cold: LandingVerdict | None,
    conditions: tuple[str, ...] = (),
    evaluation: PodEvaluation | None = None,
) -> Landing:
    """The landing of a placed replacement, which depends on `conditions` beside those of its owner and of its placing.

    `cold` is None where the replacement comes when its victim is gone, so that there is one clock only. `evaluation` is
    what it was placed by, where somebody may want to know why it comes back.
    """
    choice, names = placement.choice, cluster.table.names
    conditions = (*unplaced.replacement.answer.conditions, *placement.conditions, *conditions)
    cause = unplaced.doubt or placement.cause
    settled = LandingVerdict.LIKELY if cause else LandingVerdict.LANDS_IF if conditions else LandingVerdict.LANDS
    node = names[placement.node]
    return Landing(
        unplaced.victim,
        unplaced.replacement,
        verdict=settled,
        cold=settled if cold is None else cold,
        node=node,
        ties=tuple(map(names.__getitem__, choice.ties)),
        total=choice.total,
        margin=choice.margin,
        is_sampled=choice.is_sampled,
        is_open=choice.is_open,
        open_cause=choice.cause,
        conditions=conditions,
        message=_likely(node, cause) if cause else _open(choice.cause),
        cause=cause,
        allocations=allocations_of(placement.placed),
        patch=placement.placed.patch,
        only_return="" if evaluation is None else _only_return(node, unplaced, evaluation),
    )


def as_likely(landing: Landing, cause: str) -> Landing:
    """`landing` where it depends for `cause` on which nodes other pods get; the gravest of both."""
    verdict, cold = (worst((each, LandingVerdict.LIKELY)) for each in (landing.verdict, landing.cold))
    message = _likely(landing.node or "", f"{cause}, and other pods may get its last node")
    if landing.verdict not in (LandingVerdict.LANDS, LandingVerdict.LANDS_IF):
        return landing
    return replace(landing, verdict=verdict, cold=cold, message=message, cause=cause)


def on_any(landing: Landing, nodes: Iterable[str], cause: str) -> Landing:
    """`landing` where for `cause` any of `nodes` may be chosen beside those that are known."""
    ties = tuple(dict.fromkeys((*landing.ties, *nodes)))
    if len(ties) == 1:
        return landing
    message = landing.message or _open(cause)
    return replace(landing, ties=ties, margin=None, is_open=True, open_cause=cause, message=message)


def as_unknown(landing: Landing, cause: str) -> Landing:
    """`landing` on no node, where it depends for `cause` on which nodes other pods get."""
    unknown = LandingVerdict.UNKNOWN
    message = f"{cause}, and other pods may leave it a node; by the prediction {landing.message}"
    return replace(landing, verdict=unknown, cold=unknown, message=message, cause=cause)


def _likely(node: str, why: str) -> str:
    return f"likely scheduled onto {node}; {why}"


def _open(cause: str) -> str:
    return f"which of the nodes is chosen is unknown: {cause}" if cause else ""


def not_landed(
    unplaced: UnplacedReplacement, evaluation: PodEvaluation, *, cold: LandingVerdict | None, behind: str = ""
) -> Landing:
    """The landing of a replacement that was not placed after `evaluation`; `behind` says which pending pod is why."""
    obstacles = unplaced.scheduler.obstacles(evaluation)
    settled = LandingVerdict.NO if evaluation.fits else _verdict_of_refusal(unplaced, obstacles)
    message, cause = _APART if evaluation.fits and unplaced.unit else _message(unplaced, evaluation), ""
    message = f"{message}; {behind}" if behind else message
    if settled is LandingVerdict.UNKNOWN:
        cause = unplaced.doubt or obstacles.cause
        message = f"{cause}; by the rules of kube-scheduler {message}" if unplaced.doubt else message
    return Landing(
        unplaced.victim,
        unplaced.replacement,
        verdict=settled,
        cold=settled if cold is None else cold,
        message=message,
        obstacles={} if evaluation.fits else obstacles.by_reason(),
        cause=cause,
        refusal=next(iter(evaluation.refusals), None),
    )


def _only_return(node: str, unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> str:
    is_alone = node == unplaced.victim.node_name and evaluation.num_nodes == 1 < len(evaluation.feasible)
    return unplaced.scheduler.obstacles(evaluation).sentence() if is_alone else ""


def not_looked_for(unplaced: UnplacedReplacement) -> Landing:
    """The landing of a replacement whose scheduler is not modelled in full, where only a proof would count."""
    unknown, doubt = LandingVerdict.UNKNOWN, unplaced.doubt
    return Landing(unplaced.victim, unplaced.replacement, unknown, unknown, message=doubt, cause=doubt)


def _verdict_of_refusal(unplaced: UnplacedReplacement, obstacles: ObstacleCounts) -> LandingVerdict:
    """No, unless some node may take the pod all the same: for a plugin that cannot tell, or for another scheduler."""
    if obstacles.is_undecided or not obstacles.of_others(unplaced.optional).all():
        return LandingVerdict.UNKNOWN
    return LandingVerdict.NO


def _message(unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> str:
    if evaluation.fits:
        return _UNSCORED
    if not evaluation.refusals:
        return unplaced.scheduler.obstacles(evaluation).sentence()
    reasons = "; ".join(dict.fromkeys(reason for refusal in evaluation.refusals for reason in refusal.short))
    return f"the scheduler rejects the replacement pod: {reasons}"
