"""The table of objectives: the key of the arguments that asks for each, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.planner.args import PlannerObjective
from descheduler.planner.objective_args import (
    CLAIMED_DEVICES,
    DEFERRED_RESIZES,
    SHARED_GPUS,
    MakeRoomArgs,
    ReduceFragmentationArgs,
)
from descheduler.planner.objectives.balance_utilization import BalanceUtilizationObjective
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.objectives.consolidate_nodes import ConsolidateNodesObjective
from descheduler.planner.objectives.draining.drain_nodes import DrainNodesObjective
from descheduler.planner.objectives.making_room.deferred_resizes import DeferredResizesObjective
from descheduler.planner.objectives.making_room.make_room import MakeRoomObjective
from descheduler.planner.objectives.reduce_cost import ReduceCostObjective
from descheduler.planner.objectives.reduce_fragmentation import ReduceFragmentationObjective
from descheduler.planner.objectives.reduce_gpu_fragmentation import ReduceGpuFragmentationObjective
from descheduler.planner.objectives.repair_violations import RepairViolationsObjective


def _fragmentation(args: ReduceFragmentationArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> ClusterObjective:
    is_by_part = args.resource in (SHARED_GPUS, CLAIMED_DEVICES)
    return (ReduceGpuFragmentationObjective if is_by_part else ReduceFragmentationObjective)(args, handle, nodes)


def _room(args: MakeRoomArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> ClusterObjective:
    return (DeferredResizesObjective if args.pods == DEFERRED_RESIZES else MakeRoomObjective)(args, handle, nodes)


OBJECTIVES: Mapping[str, Callable[[Any, StrategyHandle, Sequence[Node]], ClusterObjective]] = {
    "balanceUtilization": BalanceUtilizationObjective,
    "consolidateNodes": ConsolidateNodesObjective,
    "makeRoom": _room,
    "repairViolations": RepairViolationsObjective,
    "reduceFragmentation": _fragmentation,
    "reduceCost": ReduceCostObjective,
    "drainNodes": DrainNodesObjective,
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
