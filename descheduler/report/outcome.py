"""The document `Outcome`: what became of a plan that was carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from descheduler.plan import outcome
from descheduler.plan.decisions import Decisions
from descheduler.report.document import API_VERSION, ApiVersion, Fields, PodReference
from descheduler.report.figures import Figures, make_figures
from descheduler.report.landings import landing_totals, target_of
from descheduler.report.plan_document import LandingTotals, Plan, Target

__all__ = ["EvictionResult", "NotAttempted", "Outcome", "PluginResults", "ResultKind", "make_outcome"]

ResultKind = Literal["evicted", "gone", "refused", "background", "failed", "not-attempted"]

_KINDS: Mapping[str, ResultKind] = {kind: kind for kind in get_args(ResultKind)}


class EvictionResult(Fields, frozen=True):
    """How one planned eviction ended; there is one for each pod.

    `reason` is why the plugin selected the pod, `target` where its replacement was expected, null where that was not
    looked up. `message` is the cause, "" for a pod that was evicted for certain. `status_code` is 0 when no answer
    came, `num_attempts` counts the calls made.
    """

    pod: PodReference
    node: str
    target: Target | None
    profile: str
    plugin: str
    reason: str
    result: ResultKind
    code: str
    message: str
    status_code: int
    num_attempts: int = msgspec.field(name="attempts")


class NotAttempted(Fields, frozen=True):
    """How many planned evictions were not attempted for one cause, as `code` and `message` of their results say."""

    code: str
    message: str
    count: int


class PluginResults(Fields, frozen=True):
    """How the evictions of one plugin of one profile ended, in pods. `counts` has every kind."""

    profile: str
    plugin: str
    counts: Mapping[ResultKind, int]


class Outcome(Fields, frozen=True):
    """A plan and what became of it. `results` are in the order of the plan; `counts` has every kind.

    `unconfirmed` of the evicted pods have code `outcome-unknown`: no clear answer came, and they count as evicted.
    `not_attempted` says why the results of that kind were left, `stopped_by` what ended the run early ("" when nothing
    did). `landings` and `figures` are of the evicted pods alone; those of everything that was planned are in `plan`.
    `landings.together` is null, as it is judged for a whole plan only.
    """

    api_version: ApiVersion
    kind: Literal["Outcome"]
    plan: Plan
    stopped_by: str
    results: tuple[EvictionResult, ...]
    counts: Mapping[ResultKind, int]
    unconfirmed: int
    not_attempted: tuple[NotAttempted, ...]
    plugins: tuple[PluginResults, ...]
    landings: LandingTotals
    figures: Figures

    @property
    def may_have_evicted(self) -> bool:
        """Whether any pod left, may have left, or is left to another controller that evicts it."""
        return bool(self.counts["evicted"] or self.counts["background"])


def make_outcome(
    plan: Plan, decisions: Decisions, executed: Sequence[outcome.Outcome], *, stopped_by: str = ""
) -> Outcome:
    """The document about `plan`, which was made of `decisions`, and the evictions made for it."""
    evicted = [each.eviction for each in executed if each.kind is outcome.OutcomeKind.EVICTED]
    keys = {(eviction.namespace, eviction.name) for eviction in evicted}
    pods = (pod for pod in decisions.snapshot.pods if (pod.namespace, pod.name) in keys)
    return Outcome(
        api_version=API_VERSION,
        kind="Outcome",
        plan=plan,
        stopped_by=stopped_by,
        results=tuple(map(_result, executed)),
        counts=_counts(executed),
        unconfirmed=sum(each.is_unconfirmed for each in executed),
        not_attempted=tuple(_not_attempted(executed)),
        plugins=tuple(_plugin_results(plan, executed)),
        landings=landing_totals([eviction.landing for eviction in evicted], is_verified=decisions.is_verified),
        figures=make_figures(decisions.snapshot, pods),
    )


def _result(executed: outcome.Outcome) -> EvictionResult:
    eviction = executed.eviction
    return EvictionResult(
        pod=PodReference(namespace=eviction.namespace, name=eviction.name, uid=eviction.uid),
        node=eviction.node,
        target=None if eviction.landing is None else target_of(eviction.landing),
        profile=eviction.profile,
        plugin=eviction.plugin,
        reason=eviction.reason,
        result=_KINDS[str(executed.kind.value)],
        code=str(executed.code.value),
        message=executed.message,
        status_code=executed.status_code,
        num_attempts=executed.num_attempts,
    )


def _counts(executed: Sequence[outcome.Outcome]) -> Mapping[ResultKind, int]:
    counts = Counter(str(each.kind.value) for each in executed)
    return {kind: counts[kind] for kind in _KINDS.values()}


def _not_attempted(executed: Sequence[outcome.Outcome]) -> Iterator[NotAttempted]:
    """One entry a cause, the most frequent first."""
    left = (each for each in executed if each.kind is outcome.OutcomeKind.NOT_ATTEMPTED)
    counts = Counter((str(each.code.value), each.message) for each in left)
    for (code, message), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield NotAttempted(code=code, message=message, count=count)


def _plugin_results(plan: Plan, executed: Sequence[outcome.Outcome]) -> Iterator[PluginResults]:
    """One entry a plugin that was to run, in running order, also for those that evicted nothing."""
    by_plugin: dict[tuple[str, str], list[outcome.Outcome]] = {(p.profile, p.plugin): [] for p in plan.plugins}
    for each in executed:
        by_plugin.setdefault((each.eviction.profile, each.eviction.plugin), []).append(each)
    for (profile, plugin), outcomes in by_plugin.items():
        yield PluginResults(profile=profile, plugin=plugin, counts=_counts(outcomes))
