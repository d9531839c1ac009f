"""Policies whose MigrationPlanner repairs what strategies select, and nodes for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal
from tests.builders import Object, make_node
from tests.strategies.runs import run_plugin

TAINTS = "RemovePodsViolatingNodeTaints"
AFFINITY = "RemovePodsViolatingNodeAffinity"
DUPLICATES = "RemoveDuplicates"
RESERVATION = "RemovePodsViolatingNodeReservation"
ANTI_AFFINITY = "RemovePodsViolatingInterPodAntiAffinity"
SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
LIFE_TIME = "PodLifeTime"
ARGS: Mapping[str, Object] = {
    LIFE_TIME: {"maxPodLifeTimeSeconds": 99},
    TAINTS: {},
    AFFINITY: {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
    DUPLICATES: {},
    RESERVATION: {},
    ANTI_AFFINITY: {},
}
TAINTED = make_node("tainted", cpu="10", taints=["maintenance:NoSchedule"])
FREE = [make_node(name, cpu="10") for name in "ab"]


def policy_for(*strategies: str, configured: Sequence[str] | None = None, weights: Object | None = None) -> Object:
    """A policy that plans the repair of what these strategies select, none of which is enabled itself."""
    objective = {"repairViolations": {"strategies": list(strategies), "weights": weights or {}}}
    planner: Object = {"objectives": [objective], "timeLimit": "60s", "workLimit": 1}
    names = strategies if configured is None else configured
    profile = {
        "name": "p",
        "pluginConfig": [
            {"name": "MigrationPlanner", "args": planner},
            *({"name": name, "args": ARGS[name]} for name in names),
        ],
        "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def run(nodes: Sequence[Node], pods: Sequence[Pod], *strategies: str, **others: Any) -> Decisions:
    policy = {**policy_for(*strategies, weights=others.pop("weights", None)), **others.pop("policy", {})}
    return run_plugin("MigrationPlanner", nodes, pods, policy=policy, **others)


def goal_of(decisions: Decisions) -> Goal:
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    return goal
