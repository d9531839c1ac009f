"""What blocks draining a node: by the switches of a policy, or without one by the rules of `kubectl drain`.

Where MigrationPlanner plans the drain it is what blocks that, as if it were planned for this node alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.explanation.asked import Inquiry
from descheduler.explanation.landings import landing_message, verdict_word
from descheduler.explanation.subjects.node.document import DrainBlocker
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.verdict import Reason
from descheduler.placement.landings.landing import Landing
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import BlockedNode
from descheduler.plan.moves import Move, Refusal
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.drained_nodes import selected_nodes
from descheduler.policy.types import Policy, Profile
from descheduler.report.identities import reference

_NO_LANDING = str(Reason.NO_LANDING.value)


def policy_blockers(node: Node, asked: Inquiry, policy: Policy) -> Sequence[DrainBlocker]:
    """What blocks evicting all pods of `node` in one run of `policy`, with the node cordoned.

    Where the policy has a planner, that plans it. Else every pod is asked for in the name of a plugin that selects
    pods, so that the filters, the limits, the budgets and the check of its landing answer as in a run; the largest pods
    first where the others would take their room. Without such a plugin, or where none runs, the rules are kubectl's.
    """
    snapshot = asked.snapshot
    pods = [pod for pod in snapshot.pods_by_node.get(node.name, ()) if not pod.is_terminal]
    planned = _planned_blockers(node, asked, policy)
    if planned is not None:
        return planned
    asking = _asking(policy)
    found = None if asking is None else _asked_for(node, pods, asked, policy, asking)
    if found and asking and any(each.blocker == _NO_LANDING for each in found):
        largest = sorted(pods, key=lambda pod: _size(pod, node), reverse=True)
        other = _asked_for(node, largest, asked, policy, asking)
        found = found if other is None else min(other, found, key=len)
    return tuple(drain_blockers(pods, snapshot)) if found is None else found


def _size(pod: Pod, node: Node) -> float:
    """The largest share of the node that the pod requests of a resource."""
    return max(
        (amount / node.allocatable[name] for name, amount in pod.spec.requests.items() if node.allocatable.get(name)),
        default=0.0,
    )


def _asked_for(
    node: Node, pods: Sequence[Pod], asked: Inquiry, policy: Policy, asking: tuple[str, str]
) -> Sequence[DrainBlocker] | None:
    """What blocks `pods`, which are asked for in this order; None where no plugin runs."""
    nodes = (replace(each, unschedulable=True) if each is node else each for each in asked.snapshot.nodes)
    cordoned = dataclasses.replace(asked.snapshot, nodes=tuple(nodes))
    chosen = [Move(pod, *asking, reason=f"drains node {node.name}") for pod in pods if pod.keeps_node_in_use]
    this_round = Round(chosen=chosen, most_assessed=len(chosen))
    decisions = decide(policy, cordoned, now=asked.now, setting=asked.setting or RunSetting(), this_round=this_round)
    if decisions.skipped:
        return None
    found = {refusal.pod.key: _refused(refusal) for refusal in reversed(decisions.refusals)}
    for move in () if decisions.is_verified else decisions.leaving:  # what is verified may leave, disposable pods too
        if move.landing is not None and verdict_word(move.landing) == "no":
            found[move.pod.key] = _without_node(move, move.landing)
    return tuple(found[pod.key] for pod in pods if pod.key in found)


def _refused(refusal: Refusal) -> DrainBlocker:
    verdict = refusal.verdict
    code = str((verdict.reason or Reason.UNSET).value)
    return DrainBlocker(pod=reference(refusal.pod), blocker=code, message=verdict.message, subject=verdict.subject)


def _without_node(move: Move, landing: Landing) -> DrainBlocker:
    message = landing_message(landing)
    return DrainBlocker(pod=reference(move.pod), blocker=_NO_LANDING, message=message, subject=move.pod.node_name)


def _asking(policy: Policy) -> tuple[str, str] | None:
    """Profile and plugin in whose name pods are asked for: the first plugin that selects pods."""
    found = ((profile.name, name) for profile in policy.profiles for name in (*profile.deschedule, *profile.balance))
    return next(found, None)


def drain_blockers(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[DrainBlocker]:
    """What stops `kubectl drain` without flags at each of `pods`, which leave in this order as far as budgets let them.

    Mirror pods stay on any drained node and block nothing.
    """
    ledger = BudgetLedger(snapshot)
    for pod in pods:
        if pod.is_mirror or pod.is_static:
            continue
        for blocker, message, subject in _of_kubectl(pod):
            yield DrainBlocker(pod=reference(pod), blocker=blocker, message=message, subject=subject)
        if pod.controller is not None and pod.controller.kind == "DaemonSet":
            continue
        verdict = ledger.verdict(pod)
        if verdict.is_accepted:
            ledger.charge(pod)
        else:
            yield DrainBlocker(
                pod=reference(pod), blocker="PodDisruptionBudget", message=verdict.message, subject=verdict.subject
            )


def _of_kubectl(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """What kubectl itself minds, and the flag that makes it go on."""
    owner = pod.controller
    if owner is not None and owner.kind == "DaemonSet":
        yield "DaemonSet", "managed by a DaemonSet: needs --ignore-daemonsets, and the pod is not evicted", owner.name
        return
    if owner is None:
        yield "BarePod", "no controller recreates the pod: needs --force, and the pod is lost", ""
    if pod.spec.has_local_storage:
        yield "LocalStorage", "has an emptyDir or hostPath volume: emptyDir needs --delete-emptydir-data", ""


_PLANNER = "MigrationPlanner"
_UNNAMED = "the plan leaves the node with pods, and its goal names the causes of other nodes only"


def _planned_blockers(node: Node, asked: Inquiry, policy: Policy) -> Sequence[DrainBlocker] | None:
    """What blocks a plan that drains `node` and no other one, in a run of its own with the node cordoned.

    Other nodes that the policy drains count as cordoned. None where the policy has no planner, or none runs.
    """
    profile = next((each for each in policy.profiles if _PLANNER in each.balance), None)
    if profile is None:
        return None
    pods = [pod for pod in asked.snapshot.pods_by_node.get(node.name, ()) if pod.keeps_node_in_use]
    if why := _why_unprocessed(node, policy, profile):
        return [
            DrainBlocker(pod=reference(pod), blocker="NodeNotProcessed", message=why, subject=node.name) for pod in pods
        ]
    decisions = _planned(node, asked, policy, profile)
    if decisions.skipped:
        return None
    goals = decisions.facts[profile.name, _PLANNER].goals
    return [_blocker(blocked, pods) for goal in goals for blocked in goal.blocked_nodes]


def blocked_in_run(node: Node, decisions: Decisions) -> str:
    """What goals say is in the way of draining `node`, which the run was to drain; empty where it drains the node.

    Goals name the causes of some nodes, and of others only how many there are.
    """
    goals = [goal for facts in decisions.facts.values() for goal in facts.goals]
    found = next((each.cause for goal in goals for each in goal.blocked_nodes if each.node == node.name), "")
    are_all_named = all(len(goal.blocked_nodes) >= goal.levels[0].after for goal in goals if goal.blocked_nodes)
    if found or are_all_named:
        return found
    drains = [each for profile in decisions.policy.profiles for each in _drains_of(profile)]
    leaving = {id(move.pod) for move in decisions.leaving}
    pods = (pod for pod in decisions.snapshot.pods_by_node.get(node.name, ()) if pod.keeps_node_in_use)
    stays = any(id(pod) not in leaving for pod in pods)
    return _UNNAMED if stays and node.name in _drained(drains, decisions.snapshot, decisions.policy) else ""


def _drains_of(profile: Profile) -> Iterator[DrainNodesArgs]:
    args = profile.args.get(_PLANNER) if _PLANNER in profile.balance else None
    objectives = args.objectives if isinstance(args, MigrationPlannerArgs) else ()
    yield from (each.drain_nodes for each in objectives if each.drain_nodes is not None)


def _why_unprocessed(node: Node, policy: Policy, profile: Profile) -> str:
    if not node.is_ready:
        return f"node {node.name} is not Ready, and policies process Ready nodes only"
    if not all(
        (selector or EVERYTHING).matches(node.labels) for selector in (policy.node_selector, profile.node_selector)
    ):
        return f"nodeSelector of the policy does not select node {node.name}"
    return ""


def _planned(node: Node, asked: Inquiry, policy: Policy, profile: Profile) -> Decisions:
    args = profile.args[_PLANNER]
    assert isinstance(args, MigrationPlannerArgs)  # noqa: S101 - the registry has decoded them so
    drains = [each.drain_nodes for each in args.objectives if each.drain_nodes is not None]
    alone = replace(
        args,
        objectives=(PlannerObjective(drain_nodes=DrainNodesArgs(nodes=(node.name,))),),
        min_gain_per_disruption=args.min_gain_per_disruption if drains else 0.0,
    )
    configs = (
        dataclasses.replace(each, args=alone) if each.name == _PLANNER else each for each in profile.plugin_configs
    )
    only = replace(profile, plugin_configs=tuple(configs), deschedule=(), balance=(_PLANNER,))
    closed = {node.name, *_drained(drains, asked.snapshot, policy)}
    nodes = (replace(each, unschedulable=True) if each.name in closed else each for each in asked.snapshot.nodes)
    return decide(
        replace(policy, profiles=(only,)),
        dataclasses.replace(asked.snapshot, nodes=tuple(nodes)),
        now=asked.now,
        setting=asked.setting or RunSetting(),
        this_round=Round(most_assessed=0, most_proved=0),
    )


def _drained(drains: Sequence[DrainNodesArgs], snapshot: Snapshot, policy: Policy) -> Iterator[str]:
    for args in drains:
        yield from selected_nodes(args, snapshot.nodes, policy.scheduler_files)


def _blocker(blocked: BlockedNode, pods: Sequence[Pod]) -> DrainBlocker:
    """The pod that blocks the node; the first one of `pods` where no single one does."""
    verdict = blocked.verdict
    return DrainBlocker(
        pod=reference(pods[0] if blocked.pod is None else blocked.pod),
        blocker=str((verdict.reason or Reason.UNSET).value),
        message=blocked.cause if blocked.pod is None else verdict.message,
        subject=verdict.subject,
    )
