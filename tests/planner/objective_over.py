"""Objectives of MigrationPlanner over small clusters, to be asked without a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.default_evictor.default_evictor import DefaultEvictor
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.order.waves import Reassignment
from descheduler.planner.args import DisruptionCost, MigrationPlannerArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.objectives.table import objective_of
from descheduler.planner.problem.allowed_nodes import AskingOrder
from descheduler.planner.problem.cluster_problem import ClusterProblem, cluster_problem
from tests.builders import Object, make_snapshot
from tests.eviction.runs import make_run
from tests.planner.runs import verified


@dataclass(frozen=True)
class Asked:
    """An objective, what it may ask of the run, and the cluster as arrays, by the numbers of which moves are given."""

    objective: Any
    handle: StrategyHandle
    cluster: ClusterProblem

    def pod(self, name: str) -> Pod:
        """The pod of that name."""
        return next(pod for pod in self.handle.view.snapshot.pods if pod.name == name)

    def move(self, name: str, node: str) -> Reassignment:
        """A pod's move to another node, from where it is now."""
        number = self.cluster.number_of(self.pod(name))
        source = int(self.cluster.problem.assignment[number])
        return Reassignment(number, source, self.cluster.nodes.index(node))

    def names(self, moves: Sequence[Reassignment]) -> list[str]:
        """Of the pods that are moved."""
        return [self.cluster.pods[move.pod].name for move in moves]


def objective_over(
    key: str,
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    *,
    args: Object | None = None,
    processed: Sequence[Node] | None = None,
    packs: bool = False,
    policy: Object | None = None,
    strategies: Mapping[str, Object] | None = None,
    **others: Any,
) -> Asked:
    """The objective `key` with `args` over `processed` nodes. Others are fields of the snapshot.

    `strategies` are plugins with their arguments, which the objective may run.
    """
    document = {**verified({"objectives": [{key: args or {}}]}, packs=packs), **(policy or {})}
    used = [{"name": name, "args": stated} for name, stated in (strategies or {}).items()]
    document["profiles"][0]["pluginConfig"] += used
    run = make_run(document, make_snapshot(nodes, pods, **others))
    profile = run.handle.policy.profiles[0]
    filters = [DefaultEvictor(profile.args["DefaultEvictor"], run.handle)]  # type: ignore[arg-type] # by the table
    evictor = PluginEvictor(
        run.evictor, profile=profile.name, plugin="MigrationPlanner", filters=filters, pre_eviction_filters=()
    )
    handle = StrategyHandle(
        run.handle.policy,
        run.handle.view,
        run.handle.node_fit,
        run.handle.now,
        evictor,
        build_used=lambda name, given: REGISTRY[name].factory(profile.args[name], given),
    )
    planned = profile.args["MigrationPlanner"]
    assert isinstance(planned, MigrationPlannerArgs)
    found = list(nodes if processed is None else processed)
    objective = objective_of(planned.objectives[0], handle, found, chooses_nodes=False)
    return Asked(objective, handle, _cluster(objective, handle, found))


def _cluster(objective: ClusterObjective, handle: StrategyHandle, nodes: Sequence[Node]) -> ClusterProblem:
    return cluster_problem(
        handle,
        nodes,
        AskingOrder(objective.asked_later, objective.empties_nodes, lambda number: True, looks_at_devices=True),
        weights=DisruptionCost(),
        counts=objective.counts_pod,
        pending=objective.pending(),
        most_moves=None,
        is_disposable=None,
    )
