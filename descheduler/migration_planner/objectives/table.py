"""The table of objectives: the key of the arguments that asks for each, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import SHARED_GPUS, PlannerObjective, ReduceFragmentation
from descheduler.migration_planner.objectives.balance_utilization import BalancedNodes
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.migration_planner.objectives.consolidate_nodes import EmptiedNodes
from descheduler.migration_planner.objectives.make_room import RoomForPods
from descheduler.migration_planner.objectives.reduce_fragmentation import UsableSlots
from descheduler.migration_planner.objectives.reduce_gpu_fragmentation import UsableGpus
from descheduler.migration_planner.objectives.repair_violations import RepairedViolations
from descheduler.model.node import Node

__all__ = ["OBJECTIVES", "objective_of"]


def _fragmentation(args: ReduceFragmentation, handle: StrategyHandle, nodes: Sequence[Node]) -> ClusterObjective:
    return (UsableGpus if args.resource == SHARED_GPUS else UsableSlots)(args, handle, nodes)


OBJECTIVES: Mapping[str, Callable[[Any, StrategyHandle, Sequence[Node]], ClusterObjective]] = {
    "balanceUtilization": BalancedNodes,
    "consolidateNodes": EmptiedNodes,
    "makeRoom": RoomForPods,
    "repairViolations": RepairedViolations,
    "reduceFragmentation": _fragmentation,
}
"""A new objective is a field of `PlannerObjective`, a module like the others, and a row here."""


def objective_of(
    args: PlannerObjective, handle: StrategyHandle, nodes: Sequence[Node], *, chooses_nodes: bool
) -> ClusterObjective:
    """The objective that is set; valid arguments have exactly one."""
    ((key, value),) = args.chosen()
    objective = OBJECTIVES[key](value, handle, nodes)
    if chooses_nodes:
        objective.choose_nodes()
    return objective
