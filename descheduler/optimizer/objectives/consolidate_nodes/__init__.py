"""`ConsolidateNodes`: the most nodes emptied."""

from __future__ import annotations

from descheduler.optimizer.objectives.consolidate_nodes.greedy import GreedyOrder, drain_greedily
from descheduler.optimizer.objectives.consolidate_nodes.most_allocated import MostAllocated
from descheduler.optimizer.objectives.consolidate_nodes.objective import ConsolidateNodes, ConsolidateNodesGoal
from descheduler.optimizer.objectives.consolidate_nodes.scheduled import Drain

__all__ = ["ConsolidateNodes", "ConsolidateNodesGoal", "Drain", "GreedyOrder", "MostAllocated", "drain_greedily"]
