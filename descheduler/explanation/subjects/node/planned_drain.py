"""What blocks draining a node where MigrationPlanner plans it, as it would for this node alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.explanation.asked import Inquiry
from descheduler.explanation.subjects.node.document import DrainBlocker
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import BlockedNode
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.drained_nodes import selected_nodes
from descheduler.policy.types import Policy, Profile
from descheduler.report.identities import reference

__all__ = ["blocked_in_run", "planned_blockers"]

_PLANNER = "MigrationPlanner"
_UNNAMED = "the plan leaves the node with pods, and its goal names the causes of other nodes only"


def planned_blockers(node: Node, asked: Inquiry, policy: Policy) -> Sequence[DrainBlocker] | None:
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
