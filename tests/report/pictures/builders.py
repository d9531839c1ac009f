"""Figures of plans, goals and simulations with good defaults, as the pictures draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from descheduler.report.document import PolicyIdentity, SnapshotIdentity
from descheduler.report.plan.figures import Amounts, Balance, Figures, GroupFigures, NodeFigures, TotalFigures
from descheduler.report.plan.goal import PlannedGoal, PlannedObjective
from descheduler.report.simulation_document import (
    SIMULATION_VERSION,
    ClusterFigures,
    SimulatedCycle,
    SimulatedMove,
    SimulatedPolicy,
    Simulation,
    Utilization,
)
from tests.builders import NOW


def amounts(cpu_percent: float = 0, memory_percent: float = 0) -> Amounts:
    """Of a node with 10 CPU and 1,000 bytes."""
    return Amounts(pods=0, cpu_milli=int(100 * cpu_percent), memory_bytes=int(10 * memory_percent), gpu_milli=0)


WHOLE = amounts(100, 100)


def node(name: str, before: float, after: float, *, zone: str = "", pool: str = "") -> NodeFigures:
    """A node whose requests of CPU change from so many percent to so many."""
    return NodeFigures(name=name, zone=zone, pool=pool, before=amounts(before), after=amounts(after), allocatable=WHOLE)


def group(
    zone: str = "", pool: str = "", *, num_nodes: int = 1, steps: Mapping[int, int] | None = None, **shares: Any
) -> GroupFigures:
    """Nodes of a zone and pool; of those that do not change so many are in each of `steps`."""
    unchanged = [(steps or {}).get(step, 0) for step in range(21)]
    return GroupFigures(
        zone=zone,
        pool=pool,
        num_nodes=num_nodes,
        before=shares.get("before", amounts()),
        after=shares.get("after", amounts()),
        allocatable=shares.get("allocatable", WHOLE),
        unchanged={"cpu": tuple(unchanged)} if any(unchanged) else {},
    )


def figures(nodes: Sequence[NodeFigures] = (), groups: Sequence[GroupFigures] = ()) -> Figures:
    """Figures of CPU alone."""
    nothing = amounts()
    total = TotalFigures(
        num_nodes=len(nodes), before=nothing, after=nothing, displaced=nothing, landing=nothing, allocatable=WHOLE
    )
    balance = Balance(resource="cpu", mean_before=50.0, deviation_before=10.0, mean_after=50.0, deviation_after=5.0)
    return Figures(nodes=tuple(nodes), groups=tuple(groups), balance=(balance,), total=total)


def two_nodes() -> Figures:
    """Node a is emptied onto b, and a third one does not change."""
    nodes = [node("a", 50, 0), node("b", 25, 75)]
    return figures(nodes, [group(num_nodes=3, steps={2: 1})])


def objective(**facts: Any) -> PlannedObjective:
    """One objective of a planner, for which nothing is evicted."""
    given: dict[str, Any] = {
        "profile": "p",
        "plugin": "MigrationPlanner",
        "objective": "BalanceNodes",
        "levels": (),
        "evictions": 0,
        "bound": None,
        "cost": 0,
        "cost_bound": None,
        "sentence": "nothing to do",
        "pending_pods": (),
        "targets": {},
        "history": (),
        "blocked_nodes": (),
    }
    return PlannedObjective(**given | facts)


def goal(*objectives: PlannedObjective, **facts: Any) -> PlannedGoal:
    """The goal of these objectives, for which nothing is proven."""
    given: dict[str, Any] = {
        "evictions": 0,
        "bound": None,
        "gap": None,
        "status": "feasible",
        "seconds": 0.0,
        "work": 0.0,
        "search_ended_by": "",
    }
    return PlannedGoal(objectives=objectives, **given | facts)


def cluster(*, pending: int = 0, over: int | None = None, cpu: float = 50.0, memory: float = 20.0) -> ClusterFigures:
    """Ten pods, and the fullest node by requests of CPU and memory."""
    return ClusterFigures(
        pods=10,
        pending=pending,
        unknown=0,
        nodes_over_target=over,
        cpu=Utilization(highest_percent=cpu, highest_node="a", deviation_percent=5.0),
        memory=Utilization(highest_percent=memory, highest_node="a", deviation_percent=2.5),
    )


def simulated_move(name: str, **facts: Any) -> SimulatedMove:
    """A pod that goes from a to b."""
    given: dict[str, Any] = {
        "namespace": "default",
        "workload": "ReplicaSet default/web",
        "from_node": "a",
        "to_node": "b",
        "replacement": "scheduled",
        "profile": "main",
        "plugin": "PodLifeTime",
    }
    return SimulatedMove(name=name, **given | facts)


def cycle(number: int, *moves: SimulatedMove, evictions: int | None = None, **facts: Any) -> SimulatedCycle:
    """A cycle with these evictions, after which the cluster is as before."""
    num_evictions = len(moves) if evictions is None else evictions
    given: dict[str, Any] = {"goals": (), "after": cluster(), "replacements": {"scheduled": num_evictions}}
    return SimulatedCycle(cycle=number, at=NOW, evictions=num_evictions, plugins={}, moves=moves, **given | facts)


def simulated_policy(*cycles: SimulatedCycle, path: str = "policy.yaml", **facts: Any) -> SimulatedPolicy:
    """A policy with these cycles, which converges."""
    given: dict[str, Any] = {
        "ending": "converges",
        "sentence": "nothing is evicted any more; 1 cycle",
        "waiting": {},
        "not_evicted": {},
        "why_nothing": "",
        "back_and_forth": (),
        "before": cluster(),
        "failures": (),
        "warnings": (),
        "evictions": sum(each.evictions for each in cycles),
    }
    identity = PolicyIdentity(
        path=path, digest="0123456789abcdef", kind="DeschedulerPolicy", compatibility="upstream", scheduler_files=()
    )
    return SimulatedPolicy(policy=identity, cycles=cycles, **given | facts)


def simulation(*policies: SimulatedPolicy, source: str = "dump.json", **facts: Any) -> Simulation:
    """A simulation of these policies over a dump of now, a cycle every ten minutes."""
    snapshot = SnapshotIdentity(
        source=source,
        resource_version="",
        taken_at=NOW,
        age_seconds=0.0,
        num_nodes=2,
        num_pods=10,
        skipped_objects=(),
        missing_kinds=(),
        shard=None,
    )
    given: dict[str, Any] = {"now": NOW, "every_seconds": 600.0, "differences": ()}
    return Simulation(
        api_version=SIMULATION_VERSION, kind="Simulation", snapshot=snapshot, policies=policies, **given | facts
    )
