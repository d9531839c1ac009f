"""`Relocate`: other nodes for pods that have to leave theirs."""

from __future__ import annotations

from descheduler.planner.objectives.relocate.objective import Relocate, RelocateGoal

__all__ = ["Relocate", "RelocateGoal"]
