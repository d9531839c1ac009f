"""What a run says beside its decisions, in words for operators: about its limits, and about the pods that it evicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import chain

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterCounts, count_pods
from descheduler.eviction.default_evictor.default_evictor import (
    DO_NOT_DISRUPT,
    DefaultEvictorArgs,
    effective_protections,
)
from descheduler.eviction.migration_controller.profiles import eviction_policy_notes, migration_controllers
from descheduler.eviction.migration_controller.surging_pods import surge_notes
from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.gangs import pod_group_kind_of
from descheduler.model.pod import STAYING_ANNOTATIONS, Pod, asks_to_stay
from descheduler.model.text.counted import counted
from descheduler.model.text.numbers import share_of
from descheduler.model.verdict import EvictionLimit, Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.types import Policy, Profile

_Limit = tuple[str, int | str | None, str]
"""Its key, its value, and what it is counted for: "node", "namespace", or "" for the cluster."""
_MOST_NAMED = 5
_PLANNER = "MigrationPlanner"
"""It plans around budgets and requests no pod that a budget blocks, so no refusal names a budget."""
_WORKLOAD = "Workload.scheduling.k8s.io"
"""What `spec.workloadRef` of a pod of Kubernetes 1.35 stands for; no snapshot holds it."""
_NEVER_READ = "Workloads of scheduling.k8s.io are not read"
_UNREAD = "no such objects were read"


def limit_notes(policy: Policy, snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence for each percentage among the limits of the policy and of its MigrationControllers."""
    percentages = [limit for limit in _limits_of(policy) if isinstance(limit[1], str)]
    if not percentages:
        return ()
    pods = count_pods(snapshot)
    return tuple(_limit_sentence(limit, pods) for limit in percentages)


def shard_notes(policy: Policy, snapshot: Snapshot) -> tuple[str, ...]:
    """Which part of the cluster the run has, and which limits leave it nothing; none where it has the whole."""
    shard = snapshot.shard
    if shard.is_whole:
        return ()
    number, num_nodes = shard.num_owned(snapshot.nodes), len(snapshot.nodes)
    nodes = f"{number:,} of {counted(num_nodes, 'node')} (by {shard.divided_by})"
    owns = f"{shard} has {nodes} and its share of each limit"
    pods = count_pods(snapshot)
    limits = [(key, written) for key, written, scope in _limits_of(policy) if not scope and written]
    without = [(key, written) for key, written in limits if not shard.share(share_of(written or 0, pods.total))]
    return (owns, *(f"{key} ({written}) leaves {shard} no eviction in this run" for key, written in without))


def _limits_of(policy: Policy) -> Iterator[_Limit]:
    yield EvictionLimit.TOTAL.value, policy.max_evictions_total, ""
    yield EvictionLimit.NODE.value, policy.max_evictions_per_node, "node"
    yield EvictionLimit.NAMESPACE.value, policy.max_evictions_per_namespace, "namespace"
    for name, args in migration_controllers(policy).items():
        yield f"profile {name}: maxMigratingGlobally", args.max_migrating_globally, ""
        yield f"profile {name}: maxMigratingPerNode", args.max_migrating_per_node, "node"
        yield f"profile {name}: maxMigratingPerNamespace", args.max_migrating_per_namespace, "namespace"


def _limit_sentence(limit: _Limit, pods: ClusterCounts) -> str:
    key, written, scope = limit
    if not scope:
        return f"{key} ({written}) is {share_of(written or 0, pods.total):,} of {counted(pods.total, 'pod')}"
    counts = pods.by_node if scope == "node" else pods.by_namespace
    return f"{key} ({written}) is {_shares(written, counts.values(), scope)}"


def _shares(written: int | str | None, counts: Collection[int], scope: str) -> str:
    """The least and the most that it comes to for a node or a namespace."""
    shares = {share_of(written or 0, count) for count in counts} or {share_of(written or 0, 0)}
    least, most = min(shares), max(shares)
    if least == most:
        return f"{counted(most, 'pod')} for each {scope}"
    return f"{least:,} to {counted(most, 'pod')}, depending on the {scope}"


def notes_after(policy: Policy, decisions: Decisions, snapshot: Snapshot) -> tuple[str, ...]:
    """What is to be said of the pods that `decisions` evict and refuse, a sentence each."""
    leaving, refusals = decisions.leaving, decisions.refusals
    return (
        *surge_notes(policy, leaving, snapshot),
        *_missed_room_notes(policy, leaving, len(snapshot.nodes)),
        *eviction_policy_notes(policy, leaving, snapshot.kinds),
        *_never_notes(policy, refusals, snapshot),
        *_several_notes(policy, refusals, snapshot),
        *_gang_notes(policy, leaving, snapshot.kinds),
        *_open_choice_notes(leaving),
        *_staying_pod_notes(policy, leaving, refusals),
    )


def _never_notes(policy: Policy, refusals: Iterable[Refusal], snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence about budgets that allow no eviction whatever happens."""
    never = {budget.key: budget for budget in snapshot.budgets if budget.why_never}
    if not never:
        return ()
    blocked: dict[str, set[str]] = {}
    for key, pod in _blocked(policy, refusals, snapshot, never.values()):
        blocked.setdefault(key, set()).add(pod.key)
    if not blocked:
        return ()
    budgets = [never[key] for key in sorted(blocked)]
    pods = counted(len(set().union(*blocked.values())), "pod")
    return (
        f"{counted(len(budgets), 'PodDisruptionBudget')} can never allow an eviction and {_blocks(budgets)} {pods}:"
        f" {_named(budgets)}; see 'descheduler explain budgets'",
    )


def _several_notes(policy: Policy, refusals: Iterable[Refusal], snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence about budgets that cover the same pod."""
    pods = [refusal.pod for refusal in refusals if refusal.verdict.reason is Reason.SEVERAL_BUDGETS]
    if any(_PLANNER in profile.balance for profile in policy.profiles):
        pods += [pod for pod in snapshot.pods if pod.phase == "Running" and _is_shared(snapshot.budgets_of(pod))]
    by_key = {pod.key: pod for pod in pods}
    if not by_key:
        return ()
    budgets = sorted({budget.key for pod in by_key.values() for budget in snapshot.budgets_of(pod)})
    number = len(by_key)
    return (
        f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} covered by more than one PodDisruptionBudget and"
        f" can never be evicted: {_listed(budgets)}; see 'descheduler explain budgets'",
    )


def _is_shared(budgets: Sequence[DisruptionBudget]) -> bool:
    """Whether these budgets of a pod are several. Those of manifests, without a status, decide nothing."""
    return len(budgets) > 1 and any(budget.has_status for budget in budgets)


def _blocked(
    policy: Policy, refusals: Iterable[Refusal], snapshot: Snapshot, never: Iterable[DisruptionBudget]
) -> Iterator[tuple[str, Pod]]:
    """Budgets and the pods that they block: those that were asked for, and all that a planner may move."""
    keys = {budget.key for budget in never}
    for refusal in refusals:
        if refusal.verdict.reason is Reason.DISRUPTION_BUDGET and refusal.verdict.subject in keys:
            yield refusal.verdict.subject, refusal.pod
    if any(_PLANNER in profile.balance for profile in policy.profiles):
        namespaces = {budget.namespace for budget in never}
        for pod in snapshot.pods:
            if pod.namespace in namespaces and pod.phase == "Running":
                yield from ((each.key, pod) for each in snapshot.budgets_of(pod) if each.key in keys)


def _blocks(budgets: list[DisruptionBudget]) -> str:
    return "blocks" if len(budgets) == 1 else "block"


def _named(budgets: list[DisruptionBudget]) -> str:
    return _listed([f"{budget.key} ({budget.why_never})" for budget in budgets])


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {counted(more, 'other')}" if more > 0 else "")


def _gang_notes(policy: Policy, moves: Iterable[Move], kinds: Container[str]) -> tuple[str, ...]:
    """A sentence for each kind of groups that evicted pods name and that was not read; `kinds` are those that were.

    Only of profiles that keep gangs together.
    """
    verifying = {profile.name for profile in policy.profiles if verification_args(profile) is not None}
    named = (_group_of(move.pod) for move in moves if move.profile in verifying)
    unread = Counter(kind for kind in named if kind and kind not in kinds)
    return tuple(
        f"{counted(number, 'evicted pod')} {'names' if number == 1 else 'name'} a {kind.replace('.', ' (', 1)}), and"
        f" {_NEVER_READ if kind == _WORKLOAD else _UNREAD}: how many pods the gang needs is unknown"
        for kind, number in sorted(unread.items())
    )


def _group_of(pod: Pod) -> str:
    """The kind of the group that a pod names, as far as Koordinator's is not meant."""
    return pod_group_kind_of(pod) or (_WORKLOAD if pod.spec.has_scheduling_group else "")


def _open_choice_notes(moves: Iterable[Move]) -> tuple[str, ...]:
    """A sentence for each cause for which it is unknown which of several nodes replacements get."""
    causes = Counter(move.landing.open_cause for move in moves if move.landing is not None and move.landing.open_cause)
    return tuple(
        f"{counted(number, 'replacement pod')}: which of the nodes that fit is chosen is unknown ({cause})"
        for cause, number in sorted(causes.items())
    )


def _staying_pod_notes(policy: Policy, moves: Iterable[Move], refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """A sentence where profiles without the protection select such pods: how many, and how many are evicted."""
    open_profiles = {profile.name for profile in policy.profiles if not _protects(profile)}
    evicted = {move.pod.uid for move in moves if move.profile in open_profiles and asks_to_stay(move.pod)}
    refused = {each.pod.uid for each in refusals if each.profile in open_profiles and asks_to_stay(each.pod)}
    selected = evicted | refused
    if not selected:
        return ()
    pods = counted(len(selected), "selected pod")
    have = "has" if len(selected) == 1 else "have"
    are = "is" if len(evicted) == 1 else "are"
    protected = f"to protect such pods, add {DO_NOT_DISRUPT} to podProtections.extraEnabled of DefaultEvictor"
    return (
        f"{pods} {have} the annotation {' or '.join(STAYING_ANNOTATIONS)}; {len(evicted)} {are} evicted: {protected}",
    )


def _protects(profile: Profile) -> bool:
    """Whether a DefaultEvictor of the profile, wherever it filters, protects such pods."""
    found = profile.args_of(DefaultEvictorArgs, chain(profile.filter, profile.pre_eviction_filter))
    return any(DO_NOT_DISRUPT in effective_protections(args) for args in found)


_WAY_OUT = (
    "set percentageOfNodesToScore: 100 in the configuration of the scheduler, and name that file in schedulerConfigFile"
    " of PlacementVerification"
)


def _missed_room_notes(policy: Policy, moves: Iterable[Move], num_nodes: int) -> tuple[str, ...]:
    """A sentence for each profile with replacements among `moves` that may not find the room that is held for them.

    Koordinator's Reservations do not bind the pods that use them: koord-scheduler 1.8 used 16 of 30 in a cluster of 200
    nodes, of which it looked at 48%, and 30 of 30 where it looked at all.
    """
    missing = [move.profile for move in moves if move.held_on and move.landing is not None and move.landing.is_sampled]
    return tuple(
        f"profile {profile.name}: {_may_miss(missing.count(profile.name))} (chooseNodes: true), because the scheduler"
        f" looks at a part of the {num_nodes:,} nodes only; {_WAY_OUT}"
        for profile in policy.profiles
        if profile.name in missing
    )


def _may_miss(number: int) -> str:
    if number == 1:
        return "1 replacement pod can be scheduled onto another node than the plan chose"
    return f"{number:,} replacement pods can be scheduled onto other nodes than the plan chose"
