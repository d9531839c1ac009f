"""`ReduceFragmentation`: free capacity in pieces that pods can use."""

from __future__ import annotations

from descheduler.optimizer.objectives.reduce_fragmentation.fragments import stranded_for
from descheduler.optimizer.objectives.reduce_fragmentation.objective import ReduceFragmentation, ReduceFragmentationGoal

__all__ = ["ReduceFragmentation", "ReduceFragmentationGoal", "stranded_for"]
