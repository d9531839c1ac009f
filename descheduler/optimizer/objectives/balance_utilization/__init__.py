"""`BalanceUtilization`: no node above its ceiling."""

from __future__ import annotations

from descheduler.optimizer.objectives.balance_utilization.objective import BalanceUtilization, BalanceUtilizationGoal

__all__ = ["BalanceUtilization", "BalanceUtilizationGoal"]
