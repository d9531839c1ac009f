"""Which moves are best, and in which order: bounds, plans and their replay, over arrays, without Kubernetes.

A problem is a handful of arrays, an objective says what is wanted, and `solve` gives a plan that can be carried out:

>>> import numpy as np
>>> from descheduler.planner import Balance, Limits, make_problem, solve
>>> problem = make_problem(
...     need=[[3], [3], [2], [1], [1]],  # one resource, for example CPU cores
...     capacity=[[10], [10], [10]],
...     assignment=[0, 0, 0, 0, 1],  # 9 of 10 cores of node 0 are requested
... )
>>> plan = solve(problem, Balance(ceiling=np.array([[7], [7], [7]])), Limits(work=1.0))
>>> plan.value_before, plan.value, plan.bound  # (nodes over target, eviction cost)
((1, 0), (0, 1), (0, 1))
>>> [(move.pod, move.source, move.target) for move in plan.moves]
[(2, 0, 1)]

The value is its own bound, so no plan is better: one eviction is needed. Rules between pods are in `rules`, and every
shape and unit in `Problem`.
"""

from __future__ import annotations

from descheduler.planner.limits import Limits
from descheduler.planner.objectives.balance import Balance
from descheduler.planner.objectives.consolidate import Consolidate
from descheduler.planner.objectives.defragment import Defragment
from descheduler.planner.objectives.defragment_devices import DefragmentDevices
from descheduler.planner.objectives.make_room import MakeRoom
from descheduler.planner.objectives.relocate import Relocate
from descheduler.planner.order.replay import replay
from descheduler.planner.order.waves import Move
from descheduler.planner.parts import UNLIMITED, Parts
from descheduler.planner.problem import Problem, make_problem
from descheduler.planner.rules import AtMost, MinDomains, MoveLimit, Together
from descheduler.planner.solving import Plan, Progress, ReplayError, find_assignment, solve

__all__ = [
    "UNLIMITED",
    "AtMost",
    "Balance",
    "Consolidate",
    "Defragment",
    "DefragmentDevices",
    "Limits",
    "MakeRoom",
    "MinDomains",
    "Move",
    "MoveLimit",
    "Parts",
    "Plan",
    "Problem",
    "Progress",
    "Relocate",
    "ReplayError",
    "Together",
    "find_assignment",
    "make_problem",
    "replay",
    "solve",
]
