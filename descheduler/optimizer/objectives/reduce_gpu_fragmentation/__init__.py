"""`ReduceGpuFragmentation`: the same for devices that pods share by parts, or take several of: FGD's figure."""

from __future__ import annotations

from descheduler.optimizer.objectives.reduce_gpu_fragmentation.objective import (
    ReduceGpuFragmentation,
    ReduceGpuFragmentationGoal,
)

__all__ = ["ReduceGpuFragmentation", "ReduceGpuFragmentationGoal"]
