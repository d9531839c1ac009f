"""Runs of MigrationPlanner that choose the nodes of replacements, on which Reservations hold room for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_snapshot

_CONTROLLER: Object = {
    "reservationProvider": "koordinator",
    "schedulerNames": ["default-scheduler"],
    "skipCheckExpectedReplicas": True,
    "maxMigratingPerNode": 0,
    "maxMigratingPerWorkload": "100%",
    "skipEvictionGates": ["MaxUnavailablePerWorkload"],
    "objectLimiters": {"workload": {"duration": "0s"}},
}


def choosing_policy(*objectives: Object, chooses: bool = True, limits: Object | None = None, **planner: Any) -> Object:
    """A profile `p` with MigrationPlanner and, for what it chooses, the Reservations of MigrationController.

    `limits` are other arguments of MigrationController.
    """
    planned = {"chooseNodes": chooses, "objectives": list(objectives), "timeLimit": "60s", "workLimit": 1, **planner}
    profile: Object = {
        "name": "p",
        "pluginConfig": [
            {"name": "MigrationPlanner", "args": planned},
            {"name": "MigrationController", "args": {**_CONTROLLER, **(limits or {})}},
        ],
        "plugins": {"balance": {"enabled": [{"name": "MigrationPlanner"}]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}


def run_choosing(
    key: str,
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    *,
    args: Object | None = None,
    chooses: bool = True,
    limits: Object | None = None,
    **others: Any,
) -> Decisions:
    """What MigrationPlanner decides for the objective `key` with `args` under a scheduler that prefers empty nodes.

    The nodes are chosen by the plan, or if it `chooses` none by the scheduler. Others are fields of the round.
    """
    owners = Counter((pod.controller.uid, pod.controller.name) for pod in pods if pod.controller is not None)
    workloads = {uid: Workload("ReplicaSet", "default", name, uid, num) for (uid, name), num in owners.items()}
    policy = load_policy(choosing_policy({key: args or {}}, chooses=chooses, limits=limits), REGISTRY)
    return decide(policy, make_snapshot(nodes, pods, workloads=workloads), now=NOW, this_round=Round(**others))


def targets(decisions: Decisions) -> dict[str, str]:
    """The node on which room is held for the replacement of each pod that leaves, "" where it is not."""
    return {move.pod.name: move.held_on for move in decisions.moves}
