"""`MakeRoom`: nodes for pending pods."""

from __future__ import annotations

from descheduler.optimizer.objectives.make_room.objective import MakeRoom, MakeRoomGoal

__all__ = ["MakeRoom", "MakeRoomGoal"]
