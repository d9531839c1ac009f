"""ConsolidateNodes."""

from __future__ import annotations

from descheduler.planner.objectives.consolidate.greedy import GreedyOrder, drain_greedily
from descheduler.planner.objectives.consolidate.objective import Consolidate, ConsolidateGoal

__all__ = ["Consolidate", "ConsolidateGoal", "GreedyOrder", "drain_greedily"]
