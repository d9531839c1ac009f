"""What a reviewer of a plan looks for, put together once for the page and for Markdown."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import MAXYEAR, datetime

import msgspec

from descheduler.model.text.counted import counted, first_names, most_first
from descheduler.plan.max_age import MAX_AGE
from descheduler.report.document import ShardIdentity, SnapshotIdentity
from descheduler.report.identities import shard_of
from descheduler.report.nothing import why_nothing
from descheduler.report.plan.document import Plan, PlanMove, PlannedRefusal, RefusalCount
from descheduler.report.plan.goal import goal_texts
from descheduler.report.tables.summary import (
    landing_summary,
    limit_texts,
    plan_headline,
    seconds_text,
    time_text,
    wave_text,
)

_MOST_NAMED = 5
_NO_BUDGET = "no budget"
_UNCERTAIN = {
    "": "whose landing was not looked up",
    "lands_if": "that can be scheduled under a condition alone",
    "likely": "that will likely be scheduled, which is not proven",
    "unknown": "of which it is unknown whether it can be scheduled",
    "no": "that would stay pending",
}
"""Verdict → what is said of replacements with it; "" for none."""
_BUILT_IN, _STANDARD_INPUT = "built-in policy", "standard input"
_MISSING_KINDS = "kinds are not in the dump"


class Wave(msgspec.Struct, frozen=True):
    """A wave: how many pods it evicts in which time, and of which workloads, each with how many of its pods are down
    at once."""

    number: int
    evictions: int
    time: str
    workloads: Sequence[tuple[str, int]]


class WorkloadReview(msgspec.Struct, frozen=True):
    """A workload that loses pods. `budget` is the least that a PodDisruptionBudget of it allowed, in words."""

    kind: str
    name: str
    moved: int
    replicas: int
    most_down: int
    budget: str
    moves: Sequence[PlanMove]


class NotDone(msgspec.Struct, frozen=True):
    """Pods that stay for one reason. `key` is the policy key that decides that, empty where the policy does not."""

    code: str
    number: int
    meaning: str
    key: str
    pods: Sequence[str]


class Review(msgspec.Struct, frozen=True):
    """A plan as a reviewer reads it, from the verdict to the commands."""

    plan: Plan
    verdict: Sequence[str]
    identity: Mapping[str, str]
    waves: Sequence[Wave]
    workloads: Sequence[WorkloadReview]
    not_done: Sequence[NotDone]
    risks: Sequence[str]
    commands: Mapping[str, str]


def review_of(plan: Plan) -> Review:
    """The review of `plan`. Its texts are as they are in the cluster; who shows them escapes them."""
    workloads = tuple(_workloads(plan))
    return Review(
        plan=plan,
        verdict=tuple(_verdict(plan)),
        identity=_identity(plan),
        waves=tuple(_waves(plan)),
        workloads=workloads,
        not_done=tuple(_not_done(plan.refusals, {count.code: count for count in plan.refusal_counts})),
        risks=tuple(_risks(plan, workloads)),
        commands=_commands(plan),
    )


def _verdict(plan: Plan) -> Iterator[str]:
    yield plan_headline(plan)
    if plan.skipped:
        return
    if plan.goal is not None:
        yield from goal_texts(plan.goal)
    elif why := why_nothing(plan):
        yield why
    if pending := plan.landings.no - plan.landings.owner_ends:
        yield f"{counted(pending, 'replacement')} would stay pending"
    if stopped := "; ".join(limit_texts(plan)):
        yield f"stopped by {stopped}"
    num_waves = len({move.wave for move in plan.moves})
    if num_waves > 1:
        yield f"{num_waves:,} waves; {wave_text(plan)}"
    if said := time_text(plan):
        yield f"estimated time: {said}"


def _identity(plan: Plan) -> Mapping[str, str]:
    snapshot, policy = plan.snapshot, plan.policy
    return {
        "Plan": plan.plan_id,
        "Policy": f"{policy.path} ({policy.kind}, digest {policy.digest[:12]})",
        "Cluster": f"{cluster_text(snapshot)}{_on_nodes(plan)}",
        **_shard_text(snapshot.shard),
        "Read at": time_of(snapshot.taken_at) or "a time that the dump does not tell",
        "Decided at": time_of(plan.now),
        "Expires": _expiry(snapshot),
        "Replacement pods": landing_summary(plan.landings),
    }


def _expiry(snapshot: SnapshotIdentity) -> str:
    """Until when `apply` takes the plan; "" where the dump does not tell its time, or one that cannot be."""
    if snapshot.taken_at is None or snapshot.taken_at.year == MAXYEAR:
        return ""
    return f"{time_of(snapshot.taken_at + MAX_AGE)}; apply --max-age takes older plans"


def _shard_text(shard: ShardIdentity | None) -> Mapping[str, str]:
    """Which part of the cluster the plan changes; nothing where that is all of it."""
    if shard is None:
        return {}
    return {"Shard": f"{shard_of(shard).whole_name}: {counted(shard.num_nodes, 'node')}"}


def _on_nodes(plan: Plan) -> str:
    """How many pods the figures are about, where these are not all."""
    number = plan.figures.total.before.pods
    return "" if number == plan.snapshot.num_pods else f", {number:,} of them on nodes and not finished"


def cluster_text(snapshot: SnapshotIdentity) -> str:
    """Which cluster or dump it is, and how large."""
    return f"{snapshot.source}: {counted(snapshot.num_nodes, 'node')}, {counted(snapshot.num_pods, 'pod')}"


def time_of(moment: datetime | None) -> str:
    """For people; "" for none."""
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S %Z")


def _waves(plan: Plan) -> Iterator[Wave]:
    evictions = Counter(move.wave for move in plan.moves)
    for number in sorted(evictions):
        down = {
            f"{each.kind} {each.namespace}/{each.name}": share.pods
            for each in plan.workloads
            for share in each.waves
            if share.wave == number
        }
        time = next((seconds_text(each.seconds) for each in plan.waves if each.wave == number), "")
        yield Wave(number, evictions[number], time, most_first(down))


def _workloads(plan: Plan) -> Iterator[WorkloadReview]:
    moves = {move.pod: move for move in plan.moves}
    for each in plan.workloads:
        least = min(each.budgets, key=lambda budget: budget.allowed, default=None)
        yield WorkloadReview(
            kind=each.kind,
            name=f"{each.namespace}/{each.name}",
            moved=each.moved,
            replicas=each.replicas,
            most_down=max((share.pods for share in each.waves), default=0),
            budget=_NO_BUDGET if least is None else f"{least.allowed:,} ({least.name})",
            moves=[moves[pod] for pod in each.pods],
        )


def _not_done(refusals: Sequence[PlannedRefusal], counts: Mapping[str, RefusalCount]) -> Iterator[NotDone]:
    groups: dict[tuple[str, str], list[PlannedRefusal]] = {}
    for refusal in refusals:
        groups.setdefault((refusal.code, refusal.limit), []).append(refusal)
    for (code, limit), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        messages = {member.message for member in members}
        count = counts.get(code)
        yield NotDone(
            code=code,
            number=len(members),
            meaning=messages.pop() if len(messages) == 1 else "" if count is None else count.summary,
            key=limit or ("" if count is None else count.key),
            pods=[f"{each.pod.namespace}/{each.pod.name}" for each in members[:_MOST_NAMED]],
        )


def _risks(plan: Plan, workloads: Iterable[WorkloadReview]) -> Iterator[str]:
    listed = list(workloads)
    single = [each.name for each in listed if each.replicas == 1]
    if single:
        yield f"{counted(len(single), 'workload')} with a single replica: {first_names(single, _MOST_NAMED)}"
    whole = [each.name for each in listed if each.replicas > 1 and each.most_down >= each.replicas]
    if whole:
        yield f"{counted(len(whole), 'workload')} with all replicas down at once: {first_names(whole, _MOST_NAMED)}"
    bare = [each.name for each in listed if each.budget == _NO_BUDGET]
    if bare:
        yield f"{counted(len(bare), 'workload')} without a PodDisruptionBudget: {first_names(bare, _MOST_NAMED)}"
    if spent := _spent_budgets(plan):
        yield f"{counted(len(spent), 'budget')} with 0 disruptions left in some wave: {first_names(spent, _MOST_NAMED)}"
    for verdict, count in Counter(_verdicts(plan.moves)).items():
        yield f"{counted(count, 'replacement')} {_UNCERTAIN[verdict]}"
    yield from (warning for warning in plan.warnings if _MISSING_KINDS in warning)


def _spent_budgets(plan: Plan) -> Sequence[str]:
    """The budgets that allow no more than what one wave takes, of all workloads that they cover together."""
    allowed, taken = dict[str, int](), Counter[tuple[str, int]]()
    for each in plan.workloads:
        for budget in each.budgets:
            name = f"{each.namespace}/{budget.name}"
            allowed[name] = budget.allowed
            taken.update({(name, share.wave): share.pods for share in each.waves})
    return sorted({name for (name, _), pods in taken.items() if pods >= allowed[name]})


def _verdicts(moves: Iterable[PlanMove]) -> Iterator[str]:
    for move in moves:
        if move.landing is None:
            yield ""
        elif move.landing.verdict != "lands":
            yield move.landing.verdict


def _commands(plan: Plan) -> Mapping[str, str]:
    """What to run next, for a shell. Nothing where the plan does not tell it: of the built-in policy of `plan --for`,
    and of several dumps, whose names are one text."""
    if plan.policy.path == _BUILT_IN or ", " in plan.snapshot.source:
        return {}
    policy = shlex.quote(plan.policy.path)
    is_live = plan.snapshot.is_live
    source = "" if is_live else dump_flags(plan.snapshot, plan.now)
    source += _shard_flags(plan.snapshot.shard)
    pod = f"{plan.moves[0].pod.namespace}/{plan.moves[0].pod.name}" if plan.moves else ""
    return {
        "Plan again": f"descheduler plan --policy-config-file {policy}{source} --out plan.json",
        "Carry out": f"descheduler apply plan.json --policy-config-file {policy}" if is_live and plan.moves else "",
        "Explain a pod": f"descheduler explain {shlex.quote(pod)} --policy-config-file {policy}{source}" if pod else "",
    }


def dump_flags(snapshot: SnapshotIdentity, at: datetime) -> str:
    """The flags for the same dump at the same time."""
    name = "-" if snapshot.source == _STANDARD_INPUT else shlex.quote(snapshot.source)
    now = "" if at == snapshot.taken_at else f" --now {at.isoformat().replace('+00:00', 'Z')}"
    return f" --snapshot {name}{now}"


def _shard_flags(shard: ShardIdentity | None) -> str:
    """The flags for the same shard; "" for the whole cluster."""
    if shard is None:
        return ""
    named = {"--shard-by": shard.label, "--shard-turn": shard.turn}
    texts = "".join(f" {flag} {shlex.quote(value)}" for flag, value in named.items() if value)
    return f" --shards {shard.count} --shard-index {shard.index}{texts}"
