"""All assignments of small problems at once, as arrays of a row each."""

from __future__ import annotations

import itertools

import numpy as np

from descheduler.optimizer import AtMost, MaxSkew, MoveLimit, Problem
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objective import Value
from descheduler.optimizer.rules import Rule


def every(problem: Problem) -> Ints:
    """int64[A, P]: all assignments in which only evictable pods are on other nodes that are allowed to them."""
    choices = [
        sorted({home, *np.flatnonzero(problem.allowed[problem.pod_class[pod]]).tolist()})
        if problem.evictable[pod]
        else [home]
        for pod, home in enumerate(problem.assignment.tolist())
    ]
    return np.array(list(itertools.product(*choices)))


def used(problem: Problem, at: Ints) -> Ints:
    """int64[A, N, R]: what is used."""
    return np.stack([(at == node) @ problem.need for node in range(problem.num_nodes)], axis=1)


def feasible(problem: Problem) -> Ints:
    """int64[A, P]: the assignments that keep capacity and rules, all of which hold before."""
    at = every(problem)
    at = at[(used(problem, at) <= problem.capacity).all(axis=(1, 2))]
    for rule in problem.rules:
        at = at[_keeps(rule, problem, at)]
    return at


def _keeps(rule: Rule, problem: Problem, at: Ints) -> Bools:
    moved = (at != problem.assignment) & (problem.assignment >= 0)
    keeps: Bools = np.ones(len(at), bool)
    if isinstance(rule, MoveLimit):
        for group, limit in enumerate(rule.limit.tolist()):
            keeps &= (moved & (rule.group == group)).sum(axis=1) <= limit
    elif isinstance(rule, AtMost | MaxSkew):
        domain = np.append(rule.domain, -1)[at]
        for group in range(int(rule.group.max()) + 1):
            domains = range(int(rule.domain.max()) + 1)
            counts = np.stack([((domain == each) & (rule.group == group)).sum(axis=1) for each in domains], axis=1)
            if isinstance(rule, AtMost):
                keeps &= (counts <= rule.limit[group]).all(axis=1)
            else:
                keeps &= counts.max(axis=1) - counts[:, rule.there[group]].min(axis=1) <= rule.skew[group]
    return keeps


def cost(problem: Problem, at: Ints) -> Ints:
    """int64[A]."""
    moved = (at != problem.assignment) & (problem.assignment >= 0)
    return np.asarray((problem.cost * moved).sum(axis=1))


def best_balance(problem: Problem, ceiling: Ints) -> Value:
    """The best value of `BalanceUtilization`: nodes that were under their ceiling stay so, and none over it gets a
    pod."""
    at = feasible(problem)
    over: Bools = np.asarray((used(problem, at) > ceiling).any(axis=2))
    was_over = (problem.usage(problem.assignment) > ceiling).any(axis=1)
    moved = (at != problem.assignment) & (problem.assignment >= 0)
    came = np.stack([((at == node) & moved).any(axis=1) for node in range(problem.num_nodes)], axis=1)
    is_plan: Bools = np.asarray(~(over & (~was_over | came)).any(axis=1))
    return min(zip(over[is_plan].sum(axis=1).tolist(), cost(problem, at[is_plan]).tolist(), strict=True))
