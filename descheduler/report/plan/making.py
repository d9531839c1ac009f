"""From the decisions of a cycle to the document `Plan`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from descheduler.model.text.counted import most_first
from descheduler.model.verdict import BudgetRefusal, EvictionLimit, Reason, Verdict
from descheduler.plan import moves
from descheduler.plan.decisions import BACKGROUND, Decisions
from descheduler.plan.moves import identity_of
from descheduler.plan.staying import Staying, refused_by_plugin, staying_pods
from descheduler.report.document import API_VERSION, ShardIdentity
from descheduler.report.facts import facts_of
from descheduler.report.identities import policy_identity, reference, snapshot_identity
from descheduler.report.plan.document import (
    ApiAnswer,
    BackgroundEviction,
    Plan,
    PlanMove,
    PlannedRefusal,
    PlanRoom,
    PluginFigures,
    ReachedLimit,
    RefusalCount,
    RefusedAlso,
    RepeatedRequest,
)
from descheduler.report.plan.figures import PodChange, make_figures
from descheduler.report.plan.goal import goal_of
from descheduler.report.plan.landings import landing_totals, loss_notes, planned_landing
from descheduler.report.plan.wave_times import planned_waves
from descheduler.report.plan.workloads import planned_workloads

_Request = TypeVar("_Request", BackgroundEviction, RepeatedRequest)
_SUMMARIES = {reason.code: reason.summary for reason in Reason}


def make_plan(decisions: Decisions) -> Plan:
    """The document that says everything `decisions` hold. The same decisions give the same document."""
    policy = decisions.policy
    staying = staying_pods(decisions)
    refusals = tuple(map(_refusal, staying))
    limits = _reached_limits(staying)
    planned = tuple(map(_move, decisions.leaving))
    snapshot = snapshot_identity(decisions.snapshot, decisions.now)
    return Plan(
        api_version=API_VERSION,
        kind="Plan",
        plan_id=_plan_id(decisions, planned, snapshot.shard),
        now=decisions.now,
        policy=policy_identity(policy),
        snapshot=snapshot,
        skipped=decisions.skipped,
        keeps_waves=policy.evicts_in_waves,
        waves=planned_waves(policy, decisions.leaving),
        moves=planned,
        repeated_requests=tuple(_request(RepeatedRequest, move) for move in decisions.moves if move.is_repeated),
        goal=goal_of(decisions),
        landings=landing_totals(
            [move.landing for move in decisions.leaving],
            is_verified=decisions.is_verified,
            together=decisions.together,
        ),
        background=tuple(_request(BackgroundEviction, move) for move in decisions.background),
        num_background=decisions.num_background,
        refusals=refusals,
        refusal_counts=_refusal_counts(refusals, policy.kind),
        limits=limits,
        num_more_matching=sum(limit.num_pods for limit in limits),
        is_lower_bound=not decisions.beyond.is_whole,
        plugins=tuple(_plugin_figures(decisions, staying)),
        workloads=planned_workloads(decisions.snapshot, decisions.leaving),
        figures=make_figures(decisions.snapshot, _changes(decisions)),
        failures=decisions.failures,
        warnings=(
            *(str(problem) for problem in policy.warnings),
            *decisions.notes,
            *loss_notes([move.landing for move in decisions.leaving]),
            *decisions.snapshot.warnings,
        ),
    )


def _plan_id(decisions: Decisions, planned: Sequence[PlanMove], shard: ShardIdentity | None) -> str:
    parts = (decisions.policy.digest, planned, *(() if shard is None else (shard,)))
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:12]


def _changes(decisions: Decisions) -> Iterator[PodChange]:
    """Pods that leave, and what is predicted to land: their replacements, and pending pods that need evictions."""
    for move in decisions.leaving:
        landing = move.landing
        comes = None if landing is None else landing.replacement.pod
        yield PodChange(move.pod, comes, (move.to_node or "") if comes is not None else "")
    goals = (goal for facts in decisions.facts.values() for goal in facts.goals)
    pending = {identity_of(each.pod): each for goal in goals for each in goal.pending_pods}
    for each in pending.values() if decisions.moves else ():
        yield PodChange(None, each.pod, each.node)


def _move(move: moves.Move) -> PlanMove:
    return PlanMove(
        pod=reference(move.pod),
        from_node=move.pod.node_name,
        to_node=move.to_node,
        holds_target=bool(move.held_on),
        room_for=tuple(PlanRoom(pod=reference(room.pod), node=room.node) for room in move.rooms),
        landing=None if move.landing is None else planned_landing(move.landing),
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
        wave=move.wave,
        cost=move.cost,
    )


def _request(document: type[_Request], move: moves.Move) -> _Request:
    return document(
        pod=reference(move.pod),
        node=move.pod.node_name,
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
    )


def _refusal(staying: Staying) -> PlannedRefusal:
    refusal, verdict = staying.first, staying.first.verdict
    return PlannedRefusal(
        pod=reference(refusal.pod),
        node=refusal.pod.node_name,
        profile=refusal.profile,
        plugin=refusal.plugin,
        reason=refusal.reason,
        code=_code(verdict),
        message=verdict.message,
        subject=verdict.subject,
        limit="" if verdict.limit is None else verdict.limit.value,
        is_attempt=staying.is_attempt,
        others=tuple(map(_also, staying.others)),
        api_answer=_api_answer(verdict.api_refusal),
    )


def _api_answer(refusal: BudgetRefusal | None) -> ApiAnswer | None:
    if refusal is None:
        return None
    return ApiAnswer(code=refusal.code, cause=refusal.cause, retry_after_seconds=refusal.retry_after_seconds)


def _also(refusal: moves.Refusal) -> RefusedAlso:
    return RefusedAlso(
        profile=refusal.profile,
        plugin=refusal.plugin,
        code=_code(refusal.verdict),
        message=refusal.verdict.message,
    )


def _code(verdict: Verdict) -> str:
    return verdict.code or Reason.UNSET.code


def _refusal_counts(refusals: Sequence[PlannedRefusal], kind: str) -> tuple[RefusalCount, ...]:
    """One entry a reason, the most frequent first."""
    counts = Counter(refusal.code for refusal in refusals)
    attempts = Counter(refusal.code for refusal in refusals if refusal.is_attempt)
    return tuple(
        RefusalCount(
            code=code,
            summary=_SUMMARIES[code],
            key=policy_key(code, kind),
            num_refusals=num_refusals,
            num_attempts=attempts[code],
        )
        for code, num_refusals in most_first(counts)
    )


def _reached_limits(staying: Iterable[Staying]) -> tuple[ReachedLimit, ...]:
    """One entry a limit and what it is reached for, in the order in which limits are checked."""
    counts = Counter(each.first.verdict.reached for each in staying)
    order = list(EvictionLimit)
    reached = sorted(filter(None, counts), key=lambda each: (order.index(each.limit), each.scope, each.value))
    return tuple(
        ReachedLimit(
            limit=each.limit.value,
            value=each.value,
            scope=each.scope,
            percentage=each.percentage,
            num_pods=counts[each],
        )
        for each in reached
    )


def _plugin_figures(decisions: Decisions, staying: Iterable[Staying]) -> Iterator[PluginFigures]:
    """One entry a plugin that was to run, in running order, also for those that found nothing."""
    evicted = Counter((move.profile, move.plugin) for move in decisions.leaving)
    refused = refused_by_plugin(staying)
    profiles = decisions.policy.profiles
    runs = [(profile.name, plugin) for profile in profiles for plugin in profile.deschedule]
    runs += [(profile.name, plugin) for profile in profiles for plugin in profile.balance]
    for profile, plugin in dict.fromkeys(runs):
        blocked = refused.get((profile, plugin), {})
        yield PluginFigures(
            profile=profile,
            plugin=plugin,
            evicted=evicted[profile, plugin],
            background=decisions.results.get((profile, plugin, BACKGROUND), 0),
            refused=blocked,
            facts=facts_of(decisions, profile, plugin, blocked),
        )


KEYS: Mapping[Reason, str] = {
    Reason.NO_EVICTION_ANNOTATION: "noEvictionPolicy",
    Reason.SYSTEM_CRITICAL: "evictSystemCriticalPods",
    Reason.PRIORITY_THRESHOLD: "priorityThreshold",
    Reason.LOCAL_STORAGE: "evictLocalStoragePods",
    Reason.PERSISTENT_VOLUME_CLAIM: "ignorePvcPods",
    Reason.DO_NOT_DISRUPT: "podProtections.extraEnabled",
    Reason.RESOURCE_CLAIMS: "podProtections.extraEnabled",
    Reason.LABEL_SELECTOR: "labelSelector",
    Reason.NAMESPACE: "namespaces",
    Reason.NAMESPACE_LABELS: "namespaceLabelSelector",
    Reason.TOO_FEW_REPLICAS: "minReplicas",
    Reason.TOO_YOUNG: "minPodAge",
    Reason.NO_NODE_FITS: "nodeFit",
    Reason.TOO_FEW_OBSERVATIONS: "consecutiveObservations",
    Reason.GANG_MINIMUM: "onGangMinimum",
    Reason.SCHEDULER_NAME: "reservationProvider",
    Reason.RESOURCE_QUOTA: "reservationProvider",
    Reason.WORKLOAD_REPLICAS: "skipCheckExpectedReplicas",
    Reason.WORKLOAD_UNAVAILABLE: "maxUnavailablePerWorkload",
    Reason.CONDITIONAL_LANDING: "onConditional",
    Reason.UNKNOWN_LANDING: "onUnknown",
    Reason.SELECTED_AGAIN: "requireGain",
    Reason.DRY_RUN: "dryRun",
    Reason.WINDOW: "windows",
    Reason.BLACKOUT: "blackouts",
    Reason.COOLDOWN: "moveHistory.cooldown",
    Reason.MOVES_PER_WINDOW: "moveHistory.maxMovesPerWindow",
    Reason.PING_PONG: "moveHistory.refuseReturn",
    Reason.TOO_LARGE: "moveHistory.refuseTooLarge",
}
"""Keys of a policy, or of the arguments of its plugins. Reasons that no key decides are not in it, and LimitReached,
whose refusals name the key of their limit."""
_OF_UPSTREAM: Mapping[Reason, str] = {
    Reason.DAEMON_SET: "evictDaemonSetPods",
    Reason.NO_DISRUPTION_BUDGET: "ignorePodsWithoutPDB",
}
_OF_KOORDINATOR: Mapping[Reason, str] = {Reason.BARE_POD: "evictAllBarePods"}
"""Keys that the evictors of one kind of policy alone have."""
_BY_CODE: Mapping[str, Mapping[str, str]] = {
    kind: {reason.code: key for reason, key in {**KEYS, **own}.items()}
    for kind, own in (("DeschedulerPolicy", _OF_UPSTREAM), ("DeschedulerConfiguration", _OF_KOORDINATOR))
}


def policy_key(code: str, kind: str) -> str:
    """The key that decides in a policy of this kind; "" where the policy does not."""
    return _BY_CODE[kind].get(code, "")
