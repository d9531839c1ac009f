"""Planning on without the limits that stopped plugins: which pods match that no plugin came to.

It is for the report alone. The same plugins decide over the same snapshot once more, with the limit of the run lifted
and then, where it matters, those of nodes as well, so that each pod has the limit that blocks its eviction.
Plugins that search ask for what they have planned: another search would take longer than the run, and what it would
find beyond the limits is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from descheduler.cycle.deciding.lifting import (
    LIFTED_STAGES,
    WorkBound,
    is_out_of_work,
    is_stopped,
    limits_reached,
    without_limits,
)
from descheduler.cycle.deciding.round import DecideAgain
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.table import REQUEST_CHECKS, MakeCheck
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit, LimitReached, Verdict, limit_reached
from descheduler.plan.decisions import NOTHING_BEYOND, BeyondLimits, Decisions
from descheduler.plan.facts import PluginFacts
from descheduler.plan.moves import EarlierPlan, Move, PodIdentity, Refusal, identity_of
from descheduler.policy.plugin import Registry
from descheduler.supervision import RunStopped, Watch

MOST_JUDGED = 500
"""Landings that are judged beyond those of the run itself; each takes about a millisecond."""


def with_beyond(
    decisions: Decisions,
    decide_again: DecideAgain,
    *,
    most_judged: int | None = MOST_JUDGED,
    registry: Registry = REGISTRY,
) -> Decisions:
    """`decisions` with the pods that match beyond the limits that stopped a plugin.

    Judges at most `most_judged` landings beyond those of the run, any number with None.
    """
    passes = list(_passes(decisions, decide_again, most_judged, registry))
    if len(passes) == 1:
        return decisions
    beyond = _compared(passes)
    has_failed = any(each not in decisions.failures for later in passes[1:] for each in later.failures)
    is_whole = beyond.is_whole and not has_failed and not _may_search_on(decisions, registry)
    return replace(decisions, beyond=replace(beyond, is_whole=is_whole), facts=_whole_facts(passes))


def with_beyond_in_time(
    decisions: Decisions, decide_again: DecideAgain, watch: Watch, registry: Registry = REGISTRY
) -> Decisions:
    """The same as long as there is time; when it is over, the report has what the run itself met."""
    if not is_stopped(decisions, LIFTED_STAGES[-1]):
        return decisions
    try:
        plan_on = partial(with_beyond, decisions, decide_again, registry=registry)
        return watch.call("planning beyond the limits", plan_on)
    except RunStopped:
        return replace(decisions, beyond=replace(NOTHING_BEYOND, is_whole=False))


def _passes(
    decisions: Decisions, decide_again: DecideAgain, most_judged: int | None, registry: Registry
) -> Iterator[Decisions]:
    """The decisions of the run, then those of each stage that lifts a limit which the one before met."""
    checks = REQUEST_CHECKS if most_judged is None else (_bound(decisions, most_judged), *REQUEST_CHECKS)
    earlier = EarlierPlan(decisions.leaving)
    yield (latest := decisions)
    for lifted in LIFTED_STAGES:
        if is_stopped(latest, lifted):
            policy = without_limits(decisions.policy, lifted, registry)
            yield (latest := decide_again(policy, checks, earlier))


def _may_search_on(decisions: Decisions, registry: Registry) -> bool:
    """Whether a plugin that searches has left something undone, for which it may evict more pods beyond the limits."""
    return any(
        registry[name].searches and not _is_done(decisions.facts.get((profile.name, name)))
        for profile in decisions.policy.profiles
        for name in (*profile.deschedule, *profile.balance)
    )


def _is_done(facts: PluginFacts | None) -> bool:
    goals = () if facts is None else facts.goals
    return bool(goals) and not any(level.after for goal in goals for level in goal.levels)


def _bound(decisions: Decisions, most_judged: int) -> MakeCheck:
    """A bound on top of what the run has judged, which is judged once more."""
    num_requests = len(decisions.moves) + sum(refusal.is_attempt for refusal in decisions.refusals)
    return lambda run: WorkBound(run.landings, num_requests + most_judged)


def _compared(passes: Sequence[Decisions]) -> BeyondLimits:
    """What the further passes found that the first one, the run, does not know."""
    run = passes[0]
    limit_of = _RunLimits(run)
    known = {identity_of(move.pod) for move in _evictions(run)}
    cut_off: list[Refusal] = []
    for earlier, later in pairwise(passes):
        stopped_by = _StoppingLimits(earlier)
        for move in _evictions(later):
            limit = stopped_by.limit_for(move.pod)
            if limit is not None and identity_of(move.pod) not in known:
                known.add(identity_of(move.pod))
                cut_off.append(_cut_off(move, limit_of.verdict(move.pod, limit_reached(limit))))
    return BeyondLimits(
        cut_off=tuple(cut_off),
        refusals=tuple(_further_refusals(passes, known, limit_of)),
        is_whole=not any(is_out_of_work(refusal.verdict) for later in passes[1:] for refusal in later.refusals),
    )


def _whole_facts(passes: Sequence[Decisions]) -> dict[tuple[str, str], PluginFacts]:
    """What each plugin of the run saw, counted to the end where a limit stopped it after its first pods."""
    facts = dict(passes[0].facts)
    for later in passes[1:]:
        for name in facts.keys() & later.facts.keys():
            facts[name] = max(facts[name], later.facts[name], key=lambda each: each.pods_selected)
    return facts


def _evictions(decisions: Decisions) -> tuple[Move, ...]:
    """One entry a pod that leaves, by this run or by another controller."""
    return (*decisions.leaving, *decisions.background)


def _cut_off(move: Move, verdict: Verdict) -> Refusal:
    return Refusal(move.pod, move.profile, move.plugin, verdict, is_attempt=False, reason=move.reason)


def _further_refusals(
    passes: Sequence[Decisions], leaving: AbstractSet[PodIdentity], limit_of: _RunLimits
) -> Iterator[Refusal]:
    """What blocks pods that stay without limits as well, and that the run did not come to say."""
    told = {_speaker(refusal) for refusal in passes[0].refusals if refusal.verdict.reached is None}
    for earlier, later in pairwise(passes):
        stopped_by = _StoppingLimits(earlier)
        for refusal in later.refusals:
            is_new = identity_of(refusal.pod) not in leaving and _speaker(refusal) not in told
            if is_new and stopped_by.limit_for(refusal.pod) is not None:
                if not is_out_of_work(refusal.verdict):
                    yield limit_of.seen_from_run(refusal)
                if refusal.verdict.reached is None:
                    told.add(_speaker(refusal))


def _speaker(refusal: Refusal) -> tuple[PodIdentity, str, str]:
    return identity_of(refusal.pod), refusal.profile, refusal.plugin


class _StoppingLimits:
    """The limits that stopped the plugins of one pass.

    The limit of the run cuts every pod off that comes after it, the limit of a node the pods of that node alone: a
    plugin may choose other pods on other nodes once it is lifted, and was never kept from them.
    """

    def __init__(self, decisions: Decisions) -> None:
        limits = [limit for limit in limits_reached(decisions.refusals) if limit.limit in LIFTED_STAGES[-1]]
        self._total = next((limit for limit in limits if limit.limit is EvictionLimit.TOTAL), None)
        self._by_node = {limit.scope: limit for limit in reversed(limits)}

    def limit_for(self, pod: Pod) -> LimitReached | None:
        """The limit of the run if it was reached, else that of the pod's node; None when neither was."""
        return self._total or self._by_node.get(pod.node_name)


class _RunLimits:
    """The limits that the run itself has reached: what is found beyond them is told as seen from the run."""

    def __init__(self, run: Decisions) -> None:
        self._stopping = _StoppingLimits(run)
        self._reached = set(limits_reached(run.refusals))
        granted = [move.pod for move in (*run.moves, *run.background)]
        self._granted = {
            EvictionLimit.NODE: Counter(pod.node_name for pod in granted),
            EvictionLimit.NAMESPACE: Counter(pod.namespace for pod in granted),
        }

    def verdict(self, pod: Pod, found: Verdict) -> Verdict:
        """`found`, or the limit of the run in front of it when `found` is not so before that limit is lifted."""
        if found.reached is not None and self._has_reached(found.reached):
            return found
        limit = self._stopping.limit_for(pod)
        if limit is None:
            return found
        message = f"{limit.message}; beyond it, {found.message}"
        return msgspec.structs.replace(found if found.reached is None else limit_reached(limit), message=message)

    def seen_from_run(self, refusal: Refusal) -> Refusal:
        """`refusal`, whose filters know no limits, but whose requests were made beyond them."""
        if not refusal.is_attempt and refusal.verdict.reached is None:
            return refusal
        return msgspec.structs.replace(refusal, verdict=self.verdict(refusal.pod, refusal.verdict))

    def _has_reached(self, limit: LimitReached) -> bool:
        return limit in self._reached or self._granted.get(limit.limit, Counter())[limit.scope] >= limit.value
