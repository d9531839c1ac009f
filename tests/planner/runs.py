"""Runs of MigrationPlanner with one objective, under a scheduler that prefers full nodes or empty ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal
from descheduler.planner.migration_planner import MigrationPlanner
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_snapshot
from tests.strategies.runs import run_plugin

_PACKING = Path(__file__).resolve().parents[2] / "config" / "schedulers" / "most-allocated.yaml"


def verified(planner: Object, *, packs: bool = True, scheduler: Path = _PACKING) -> Object:
    """A policy with MigrationPlanner and PlacementVerification; `packs`: the scheduler is that of the file `scheduler`,
    by default one that prefers full nodes."""
    verification: Object = {"schedulerConfigFile": str(scheduler)} if packs else {}
    profile: Object = {
        "name": "p",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": {}},
            {"name": "MigrationPlanner", "args": planner},
            {"name": "PlacementVerification", "args": verification},
        ],
        "plugins": {
            "balance": {"enabled": ["MigrationPlanner"]},
            "preevictionfilter": {"enabled": ["PlacementVerification"]},
        },
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def run_objective(
    key: str,
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    *,
    args: Object | None = None,
    planner: Object | None = None,
    policy: Object | None = None,
    packs: bool = True,
    **others: Any,
) -> Decisions:
    """What MigrationPlanner decides for the objective `key` with `args`; `planner` are arguments beside it."""
    planned = {"objectives": [{key: args or {}}], "timeLimit": "60s", "workLimit": 2, **(planner or {})}
    return run_plugin(
        "MigrationPlanner", nodes, pods, policy={**verified(planned, packs=packs), **(policy or {})}, **others
    )


def goal_of(decisions: Decisions) -> Goal:
    """The one goal of the plan."""
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    return goal


def asked_after(
    *objectives: Object,
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    processed: Sequence[Node] | None = None,
    planner: Object | None = None,
    policy: Object | None = None,
    packs: bool = True,
    **others: Any,
) -> tuple[Decisions, MigrationPlanner]:
    """What is decided for the objectives over `processed` nodes, and the plugin, which can be asked for its reasons.

    Others are fields of the snapshot.
    """
    made: list[MigrationPlanner] = []

    def factory(args: Any, handle: StrategyHandle) -> MigrationPlanner:
        made.append(MigrationPlanner(args, handle))
        return made[-1]

    planned = {"objectives": list(objectives), "timeLimit": "60s", "workLimit": 1, **(planner or {})}
    decisions = decide(
        load_policy({**verified(planned, packs=packs), **(policy or {})}, REGISTRY),
        make_snapshot(nodes, pods, **others),
        now=NOW,
        setting=RunSetting(
            processed_nodes=nodes if processed is None else processed,
            registry={**REGISTRY, "MigrationPlanner": replace(REGISTRY["MigrationPlanner"], factory=factory)},
        ),
    )
    return decisions, made[0]
