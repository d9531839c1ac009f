"""RepairViolations."""

from __future__ import annotations

from descheduler.planner.objectives.relocate.objective import Relocate, RelocateGoal

__all__ = ["Relocate", "RelocateGoal"]
