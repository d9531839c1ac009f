"""`RepairViolations`: other nodes for pods that have to leave theirs."""

from __future__ import annotations

from descheduler.optimizer.objectives.repair_violations.objective import RepairViolations, RepairViolationsGoal

__all__ = ["RepairViolations", "RepairViolationsGoal"]
