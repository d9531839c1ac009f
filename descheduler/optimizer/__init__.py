"""Which moves are best, and in which order: bounds, plans and their replay, over arrays, without Kubernetes.

A problem is a handful of arrays, an objective says what is wanted, and `solve` gives a plan that can be carried out:

>>> import numpy as np
>>> from descheduler.optimizer import BalanceUtilization, Limits, make_problem, solve
>>> problem = make_problem(
...     need=[[3], [3], [2], [1], [1]],  # one resource, for example CPU cores
...     capacity=[[10], [10], [10]],
...     assignment=[0, 0, 0, 0, 1],  # 9 of 10 cores of node 0 are requested
... )
>>> plan = solve(problem, BalanceUtilization(ceiling=np.array([[7], [7], [7]])), Limits(work=1.0))
>>> plan.value_before, plan.value, plan.bound  # (nodes over target, eviction cost)
((1, 0), (0, 1), (0, 1))
>>> [(move.pod, move.source, move.target) for move in plan.moves]
[(2, 0, 1)]

The value is its own bound, so no plan is better: one eviction is needed. Rules between pods are in `rules`, and every
shape and unit in `Problem`.
"""

from __future__ import annotations

from descheduler.optimizer.limits import Limits
from descheduler.optimizer.objectives.balance_utilization import BalanceUtilization
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes
from descheduler.optimizer.objectives.make_room import MakeRoom
from descheduler.optimizer.objectives.reduce_cost import ReduceCost
from descheduler.optimizer.objectives.reduce_fragmentation import ReduceFragmentation
from descheduler.optimizer.objectives.reduce_gpu_fragmentation import ReduceGpuFragmentation
from descheduler.optimizer.objectives.repair_violations import RepairViolations
from descheduler.optimizer.order.replay import replay
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.parts import UNLIMITED, Parts
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import AtMost, MaxSkew, MinDomains, MoveLimit, Together
from descheduler.optimizer.search import Ties
from descheduler.optimizer.solving import ReplayError, SearchProgress, Solution, solve

__all__ = [
    "UNLIMITED",
    "AtMost",
    "BalanceUtilization",
    "ConsolidateNodes",
    "Limits",
    "MakeRoom",
    "MaxSkew",
    "MinDomains",
    "MoveLimit",
    "Parts",
    "Problem",
    "Reassignment",
    "ReduceCost",
    "ReduceFragmentation",
    "ReduceGpuFragmentation",
    "RepairViolations",
    "ReplayError",
    "SearchProgress",
    "Solution",
    "Ties",
    "Together",
    "make_problem",
    "replay",
    "solve",
]
