"""What one run of a policy decides about one pod, and why plugins do not select a pod, each in its own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.beyond_limits import MOST_JUDGED, with_beyond
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.fields import Fields
from descheduler.explanation.run_witness import RunWitness, Wish
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.verdict import Reason, Verdict
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, PodIdentity, Refusal, identity_of
from descheduler.plan.staying import staying_pod
from descheduler.policy.plugin_faults import failure_words
from descheduler.policy.types import Policy, Profile
from descheduler.strategies.framework import PlacingPlugin, ReportingPlugin


class PluginAnswer(Fields, frozen=True):
    """One plugin that selected the pod, and the result.

    `result` is `refused` for an eviction that was requested, `kept` for a candidate whose eviction was not requested.
    `reason` is the plugin's own sentence, empty when it gave none; `code`, `message` and `subject` say what blocks it.
    """

    profile: str
    plugin: str
    result: Literal["evicted", "refused", "kept"]
    reason: str
    code: str
    message: str
    subject: str


class FilterAnswer(Fields, frozen=True):
    """The result of the filters of a profile for the pod at the end of the run; `code` is empty when they pass."""

    profile: str
    code: str
    message: str
    subject: str


class PodDecision(Fields, frozen=True):
    """What one run of the policy decides about the pod, in one sentence and in detail.

    `outcome` is `evicted`, `kept` (selected but not evicted), `unwanted` (not selected by any plugin) or `unjudged` (no
    plugin ran). `answers` has an entry for each plugin that selected the pod; when the pod is not evicted, the first
    one names what blocks its eviction. `not_selected` says why the other plugins do not select it. `num_moves_before`
    counts the pods that the run evicts before it. `filters` is empty for a pod without a node, which is not evicted.
    `wave` is that of an evicted pod, as in `Move`, and null for all others; the run has `num_waves`.
    """

    outcome: Literal["evicted", "kept", "unwanted", "unjudged"]
    summary: str
    answers: tuple[PluginAnswer, ...]
    not_selected: tuple[PluginMiss, ...]
    filters: tuple[FilterAnswer, ...]
    num_moves_before: int = msgspec.field(name="movesBefore")
    wave: int | None
    num_waves: int = msgspec.field(name="waves")


class WatchedRun(msgspec.Struct, frozen=True):
    """One run of a policy, and what the watch saw of it."""

    decisions: Decisions
    watch: RunWitness

    @property
    def notes(self) -> tuple[str, ...]:
        """What operators must know of the run: plugins that could not work, and what the policy leaves unclear."""
        failures = (
            f"{f.plugin} (profile {f.profile}) failed: {failure_words(f.plugin, f.message)}"
            for f in self.decisions.failures
        )
        return (*failures, *self.decisions.notes)

    @property
    def held(self) -> Mapping[PodIdentity, Move]:
        """The moves for which room is held, by the pod that leaves."""
        return {identity_of(move.pod): move for move in self.decisions.leaving if move.held_on}

    def wishes_for(self, pod: Pod) -> list[Wish]:
        """The plugins that wanted `pod` gone, in order."""
        return [wish for wish in self.watch.wishes if wish.pod is pod]

    def moves_before(self, pod: Pod) -> list[Pod]:
        """The pods whose eviction was booked when the run decided about `pod`, in order.

        A pod that no plugin selects has none: its landing is that of the cluster as it is.
        """
        wishes = self.wishes_for(pod)
        decisive = next((wish for wish in wishes if wish.verdict.is_accepted), wishes[0] if wishes else None)
        granted = [] if decisive is None else self.watch.granted[: decisive.num_granted]
        return list({id(moved): moved for moved in granted if moved is not pod}.values())

    def answers_about(self, pod: Pod) -> tuple[PluginAnswer, ...]:
        """What the plugins met that selected `pod`; of one that stays, what blocks its eviction comes first."""
        answers = [_answer(wish) for wish in self.wishes_for(pod)]
        staying = staying_pod(self.decisions, pod)
        refusals = [] if staying is None else [_refusal_answer(each) for each in (staying.first, *staying.others)]
        return tuple({_said(answer): answer for answer in (*refusals, *answers)}.values())

    def decision_about(self, pod: Pod) -> PodDecision:
        """What becomes of `pod`."""
        answers = self.answers_about(pod)
        is_evicted = any(answer.result == "evicted" for answer in answers)
        skipped = self.decisions.skipped
        selecting = {(answer.profile, answer.plugin) for answer in answers}
        return PodDecision(
            outcome="unjudged" if skipped else "evicted" if is_evicted else "kept" if answers else "unwanted",
            summary=f"skipped: {skipped}" if skipped else _summary(answers),
            answers=answers,
            not_selected=tuple(plugin_misses(pod, self.decisions, self.watch, selecting)),
            filters=tuple(
                _filter_answer(profile.name, self.watch.filters_of(profile.name, pod))
                for profile in (self.decisions.policy.profiles if pod.node_name else ())
            ),
            num_moves_before=len(self.moves_before(pod)),
            wave=next((move.wave for move in self.decisions.leaving if move.pod is pod), None),
            num_waves=max((move.wave for move in self.decisions.leaving), default=0),
        )


def watched_run(
    policy: Policy, snapshot: Snapshot, pods: Iterable[Pod], now: datetime, setting: RunSetting | None = None
) -> WatchedRun:
    """One dry run in which `pods` are watched. Raises PolicyError as `decide` does."""
    pods = tuple(pods)
    watch, setting = RunWitness(pods), setting or RunSetting()
    watched, this_round = replace(setting, registry=watch.registry(REGISTRY)), Round(observer=watch, most_assessed=0)
    decisions = decide(policy, snapshot, now=now, setting=watched, this_round=this_round)
    again = decide_again(snapshot, now=now, setting=setting)
    return WatchedRun(with_beyond(decisions, again, most_judged=None if pods else MOST_JUDGED), watch)


def _summary(answers: tuple[PluginAnswer, ...]) -> str:
    if not answers:
        return "not selected by any plugin"
    evicted = next((answer for answer in answers if answer.result == "evicted"), None)
    if evicted is not None:
        return f"evicted by {_selection(evicted)}"
    first = answers[0]
    return f"not evicted: selected by {_selection(first)}; blocked by {first.code}: {first.message}"


def _selection(answer: PluginAnswer) -> str:
    return f"{answer.plugin} (profile {answer.profile}){f': {answer.reason}' if answer.reason else ''}"


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


def _refusal_answer(refusal: Refusal) -> PluginAnswer:
    verdict = refusal.verdict
    return PluginAnswer(
        profile=refusal.profile,
        plugin=refusal.plugin,
        result="refused" if refusal.is_attempt else "kept",
        reason=refusal.reason,
        code=_code(verdict),
        message=verdict.message,
        subject=verdict.subject,
    )


def _said(answer: PluginAnswer) -> tuple[str, str, str, str]:
    return answer.profile, answer.plugin, answer.code, answer.message


def _filter_answer(profile: str, verdict: Verdict) -> FilterAnswer:
    return FilterAnswer(profile=profile, code=_code(verdict), message=verdict.message, subject=verdict.subject)


def _code(verdict: Verdict) -> str:
    return "" if verdict.is_accepted else str((verdict.reason or Reason.UNSET).value)


class PluginMiss(Fields, frozen=True):
    """One plugin that does not select the pod, and why."""

    profile: str
    plugin: str
    message: str


_CUT_OFF = "a limit stopped the plugin before it came to the pod; without it, evicting other pods is enough"


def plugin_misses(
    pod: Pod, decisions: Decisions, watch: RunWitness, selecting: AbstractSet[tuple[str, str]]
) -> Iterator[PluginMiss]:
    """One entry for each (profile, plugin) of the policy that is not in `selecting` and that can tell, profile by
    profile in running order."""
    if decisions.skipped:
        return
    is_cut_off = any(refusal.verdict.reached is not None for refusal in decisions.refusals)
    failed = {(failure.profile, failure.plugin): failure.message for failure in decisions.failures}
    for profile in decisions.policy.profiles:
        unseen = _why_unseen(pod, decisions, profile)
        for plugin in dict.fromkeys((*profile.deschedule, *profile.balance)):
            key = profile.name, plugin
            if key in failed:
                message = f"failed: {failure_words(plugin, failed[key])}"
            elif pending := _about_pending(pod, watch.strategy(*key)):
                message = pending
            else:
                message = unseen or _why_not(pod, watch.strategy(*key), is_cut_off=is_cut_off)
            if message and key not in selecting:
                yield PluginMiss(profile=profile.name, plugin=plugin, message=message)


def _about_pending(pod: Pod, strategy: object) -> str:
    """What the plugin does for a pod without a node; empty for other pods, and where it does nothing for any."""
    return strategy.about_pending(pod) if not pod.node_name and isinstance(strategy, PlacingPlugin) else ""


def _why_not(pod: Pod, strategy: object, *, is_cut_off: bool) -> str:
    """The plugin's words. It has none for a pod that it would select now, and does not once a limit is lifted."""
    if strategy is None:
        return "did not run: a plugin before it failed"
    if not isinstance(strategy, ReportingPlugin):
        return ""
    return strategy.why_not(pod) or (_CUT_OFF if is_cut_off else "")


def _why_unseen(pod: Pod, decisions: Decisions, profile: Profile) -> str:
    """Why no plugin of `profile` is handed the node of `pod`; empty when they are."""
    if not pod.node_name:
        return "the pod is not scheduled onto a node"
    node = next((node for node in decisions.snapshot.nodes if node.name == pod.node_name), None)
    if node is None:
        return f"node {pod.node_name} does not exist"
    if not node.is_ready:
        return f"node {node.name} is not ready"
    owners: tuple[Policy | Profile, ...] = (decisions.policy, profile)
    if all((owner.node_selector or EVERYTHING).matches(node.labels) for owner in owners):
        return ""
    return f"node {node.name} does not match nodeSelector"
