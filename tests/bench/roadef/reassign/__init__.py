"""Machine reassignment: soft limits of load, free resources in proportion, and costs of moves, in one sum."""

from __future__ import annotations

from tests.bench.roadef.reassign.objective import Proportion, Reassign, ReassignGoal

__all__ = ["Proportion", "Reassign", "ReassignGoal"]
