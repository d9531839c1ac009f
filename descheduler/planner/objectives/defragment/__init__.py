"""`Defragment`: free capacity in pieces that pods can use."""

from __future__ import annotations

from descheduler.planner.objectives.defragment.fragments import stranded_for
from descheduler.planner.objectives.defragment.objective import Defragment, DefragmentGoal

__all__ = ["Defragment", "DefragmentGoal", "stranded_for"]
