"""From the decisions of a cycle, and the evictions made for it, to the document `Outcome`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from descheduler.model.pod import Pod
from descheduler.model.text.counted import most_first
from descheduler.plan import outcome
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import ReachedGoal
from descheduler.report.document import API_VERSION
from descheduler.report.identities import reference
from descheduler.report.outcome.document import (
    EvictionResult,
    NotAttempted,
    OutcomeDocument,
    PluginResults,
    ResultKind,
    reached_objectives,
)
from descheduler.report.outcome.predictions import make_predictions
from descheduler.report.plan.document import Plan, PluginFigures
from descheduler.report.plan.figures import PodChange, make_figures
from descheduler.report.plan.landings import landing_totals, target_of

if TYPE_CHECKING:  # an outcome without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing

_KINDS: Mapping[str, ResultKind] = {kind: kind for kind in get_args(ResultKind)}


def make_outcome(
    plan: Plan,
    decisions: Decisions,
    executed: Sequence[outcome.Outcome],
    *,
    stopped_by: str = "",
    goals: Sequence[ReachedGoal] = (),
) -> OutcomeDocument:
    """The document about `plan`, which was made of `decisions`, and the evictions made for it, and before for users.

    `goals` is what planners have come to.
    """
    evicted = [each.eviction for each in executed if each.kind is outcome.OutcomeKind.EVICTED]
    # A pod that left before the snapshot was taken may have a successor of its name in it.
    landings = {eviction.uid: eviction.landing for eviction in evicted}
    pods = [pod for pod in decisions.snapshot.pods if pod.uid in landings] if landings else []
    return OutcomeDocument(
        api_version=API_VERSION,
        kind="Outcome",
        plan=plan,
        stopped_by=stopped_by,
        results=tuple(map(_result, executed)),
        counts=result_counts(executed),
        unconfirmed=sum(each.is_unconfirmed for each in executed),
        not_attempted=tuple(_not_attempted(executed)),
        plugins=tuple(plugin_results(executed, plan.plugins)),
        landings=landing_totals([eviction.landing for eviction in evicted], is_verified=decisions.is_verified),
        predictions=make_predictions(executed),
        goals=reached_objectives(goals),
        figures=make_figures(decisions.snapshot, (_change(pod, landings[pod.uid]) for pod in pods)),
    )


def _change(pod: Pod, landing: Landing | None) -> PodChange:
    comes = None if landing is None else landing.replacement.pod
    return PodChange(pod, comes, "" if landing is None else landing.node or "")


def _result(executed: outcome.Outcome) -> EvictionResult:
    eviction = executed.eviction
    return EvictionResult(
        pod=reference(eviction),
        node=eviction.node,
        target=None if eviction.landing is None else target_of(eviction.landing),
        landed_on=executed.landed_on,
        profile=eviction.profile,
        plugin=eviction.plugin,
        reason=eviction.reason,
        result=_KINDS[str(executed.kind.value)],
        code=str(executed.code.value),
        message=executed.message,
        status_code=executed.status_code,
        num_attempts=executed.num_attempts,
        job=eviction.users_job,
        check=executed.check,
        subject=executed.subject,
    )


def result_counts(executed: Sequence[outcome.Outcome]) -> Mapping[ResultKind, int]:
    """How many evictions ended in each way; every kind has an entry."""
    counts = Counter(str(each.kind.value) for each in executed)
    return {kind: counts[kind] for kind in _KINDS.values()}


def _not_attempted(executed: Sequence[outcome.Outcome]) -> Iterator[NotAttempted]:
    """One entry a cause, the most frequent first."""
    left = (each for each in executed if each.kind is outcome.OutcomeKind.NOT_ATTEMPTED)
    counts = Counter((str(each.code.value), each.message) for each in left)
    for (code, message), count in most_first(counts):
        yield NotAttempted(code=code, message=message, count=count)


def plugin_results(
    executed: Sequence[outcome.Outcome], plugins: Iterable[PluginFigures] = ()
) -> Iterator[PluginResults]:
    """One entry for each of `plugins`, in their order, also for those that evicted nothing, and for further ones."""
    by_plugin: dict[tuple[str, str], list[outcome.Outcome]] = {(p.profile, p.plugin): [] for p in plugins}
    for each in executed:
        by_plugin.setdefault((each.eviction.profile, each.eviction.plugin), []).append(each)
    for (profile, plugin), outcomes in by_plugin.items():
        yield PluginResults(profile=profile, plugin=plugin, counts=result_counts(outcomes))
