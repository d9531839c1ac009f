"""`Balance`: no node above its ceiling."""

from __future__ import annotations

from descheduler.planner.objectives.balance.objective import Balance, BalanceGoal

__all__ = ["Balance", "BalanceGoal"]
