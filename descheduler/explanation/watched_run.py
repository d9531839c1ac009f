"""What one run of a policy decides about one pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.explanation.watch import Watch, Wish
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict
from descheduler.plan.decisions import Decisions
from descheduler.policy.types import Policy
from descheduler.report.explanation.pod import FilterAnswer, PluginAnswer, PodDecision

__all__ = ["RunOptions", "WatchedRun", "watched_run"]


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """One run of a policy, and what the watch saw of it."""

    decisions: Decisions
    watch: Watch

    @property
    def notes(self) -> tuple[str, ...]:
        """What operators must know of the run: plugins that could not work, and what the policy leaves unclear."""
        failures = (f"{f.plugin} (profile {f.profile}) could not work: {f.message}" for f in self.decisions.failures)
        return (*failures, *self.decisions.notes)

    def wishes_for(self, pod: Pod) -> list[Wish]:
        """The plugins that wanted `pod` gone, in order."""
        return [wish for wish in self.watch.wishes if wish.pod is pod]

    def moves_before(self, pod: Pod) -> list[Pod]:
        """The pods whose eviction was booked when the run decided about `pod`, in order.

        Of a pod that nobody asks for that is none: its landing is that of the cluster as it is.
        """
        wishes = self.wishes_for(pod)
        decisive = next((wish for wish in wishes if wish.verdict.is_accepted), wishes[0] if wishes else None)
        granted = [] if decisive is None else self.watch.granted[: decisive.num_granted]
        return list({id(moved): moved for moved in granted if moved is not pod}.values())

    def decision_about(self, pod: Pod) -> PodDecision:
        """What becomes of `pod`."""
        answers = tuple(_answer(wish) for wish in self.wishes_for(pod))
        is_evicted = any(answer.result == "evicted" for answer in answers)
        skipped = self.decisions.skipped
        return PodDecision(
            outcome="unjudged" if skipped else "evicted" if is_evicted else "kept" if answers else "unwanted",
            summary=f"nothing was judged: {skipped}" if skipped else _summary(answers),
            answers=answers,
            filters=tuple(
                _filter_answer(profile.name, self.watch.filters_of(profile.name, pod))
                for profile in self.decisions.policy.profiles
            ),
            num_moves_before=len(self.moves_before(pod)),
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What beside the policy changes the decisions of a run: its feature gates, and which pods it may move."""

    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    scope: Scope = EVERYWHERE


def watched_run(
    policy: Policy, snapshot: Snapshot, pods: Iterable[Pod], now: datetime, options: RunOptions | None = None
) -> WatchedRun:
    """One dry run in which `pods` are watched. Raises PolicyError as `decide` does."""
    watch, options = Watch(pods), options or RunOptions()
    decisions = decide(
        policy,
        snapshot,
        now=now,
        feature_gates=options.feature_gates,
        scope=options.scope,
        registry=watch.registry(REGISTRY),
        observer=watch,
        most_assessed=0,
    )
    return WatchedRun(decisions, watch)


def _summary(answers: tuple[PluginAnswer, ...]) -> str:
    if not answers:
        return "stays: no plugin asks for it"
    evicted = next((answer for answer in answers if answer.result == "evicted"), None)
    if evicted is not None:
        return f"is evicted by {_named(evicted)}: it {evicted.reason or 'is asked for'}"
    first = answers[0]
    why = f" ({first.reason})" if first.reason else ""
    others = dict.fromkeys(answer.plugin for answer in answers[1:] if answer.plugin != first.plugin)
    also = f"; {', '.join(others)} would have it too" if others else ""
    return f"stays: {_named(first)} wants it gone{why}, {first.code} keeps it: {first.message}{also}"


def _named(answer: PluginAnswer) -> str:
    return f"{answer.plugin} (profile {answer.profile})"


def _answer(wish: Wish) -> PluginAnswer:
    verdict = wish.verdict
    return PluginAnswer(
        profile=wish.profile,
        plugin=wish.plugin,
        result="evicted" if verdict.is_accepted else "refused" if wish.is_request else "kept",
        reason=wish.reason,
        code=_code(verdict),
        message=verdict.message,
        subject=verdict.subject,
    )


def _filter_answer(profile: str, verdict: Verdict) -> FilterAnswer:
    return FilterAnswer(profile=profile, code=_code(verdict), message=verdict.message, subject=verdict.subject)


def _code(verdict: Verdict) -> str:
    return "" if verdict.is_accepted else str((verdict.reason or Reason.UNSET).value)
