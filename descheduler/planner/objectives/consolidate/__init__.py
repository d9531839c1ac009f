"""`Consolidate`: the most nodes emptied."""

from __future__ import annotations

from descheduler.planner.objectives.consolidate.greedy import GreedyOrder, drain_greedily
from descheduler.planner.objectives.consolidate.most_allocated import MostAllocated
from descheduler.planner.objectives.consolidate.objective import Consolidate, ConsolidateGoal
from descheduler.planner.objectives.consolidate.scheduled import Drain

__all__ = ["Consolidate", "ConsolidateGoal", "Drain", "GreedyOrder", "MostAllocated", "drain_greedily"]
