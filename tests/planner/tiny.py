"""Tiny problems, and every assignment of them: what the planner finds is compared to all there is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from descheduler.planner import AtMost, MinDomains, MoveLimit, Problem, Together, make_problem
from descheduler.planner.arrays import Ints
from descheduler.planner.rules import Rule

__all__ = ["every_assignment", "is_feasible", "random_problem"]


def random_problem(rng: np.random.Generator, *, rules: bool = True, pending: int = 0) -> Problem:
    """Five or six pods on three nodes, with two resources, a pinned pod now and then, costs and all kinds of rules."""
    pods, nodes = int(rng.integers(5, 7)), 3
    need = rng.integers(1, 6, (pods, 2))
    assignment = rng.integers(0, nodes, pods)
    assignment[:pending] = -1
    used = np.zeros((nodes, 2), np.int64)
    np.add.at(used, assignment[assignment >= 0], need[assignment >= 0])
    return make_problem(
        need,
        used + rng.integers(0, 7, (nodes, 2)),
        assignment,
        evictable=rng.random(pods) < 0.9,
        cost=rng.integers(0, 4, pods),
        pod_class=rng.integers(0, 2, pods),
        allowed=np.array([[True] * nodes, (rng.random(nodes) < 0.8).tolist()]),
        rules=_random_rules(rng, pods, nodes) if rules else (),
        both_ends=rng.random(2) < 0.3,
    )


def _random_rules(rng: np.random.Generator, pods: int, nodes: int) -> list[Rule]:
    zone = np.array([0, 0, 1])
    group = rng.integers(-1, 3, pods)
    found: list[Rule] = [
        AtMost(group, np.arange(nodes), rng.integers(1, 3, 3)),
        MinDomains(group, zone, rng.integers(1, 3, 3)),
        Together(rng.integers(-1, 3, pods), zone, rng.integers(0, 3, (2, 2))),
        MoveLimit(np.zeros(pods, np.int64), np.array([int(rng.integers(1, 5))])),
    ]
    return [rule for rule in found if rng.random() < 0.6]


def every_assignment(problem: Problem) -> Iterator[Ints]:
    """All assignments in which only evictable pods are elsewhere, pending pods included where they are."""
    choices = []
    for pod, node in enumerate(problem.assignment.tolist()):
        open_nodes = np.flatnonzero(problem.allowed[problem.pod_class[pod]]).tolist()
        choices.append(sorted({node, *open_nodes}) if problem.evictable[pod] else [node])
    for nodes in itertools.product(*choices):
        yield np.array(nodes)


def is_feasible(problem: Problem, assignment: Ints) -> bool:
    """Whether the end of a plan keeps capacity and rules, no worse than today; how it gets there is not looked at."""
    for node in range(problem.num_nodes):
        arrived = np.flatnonzero((assignment == node) & (problem.assignment != node))
        there = problem.need[assignment == node].sum(axis=0)
        left = problem.need[(problem.assignment == node) & (assignment != node)].sum(axis=0)
        needed = problem.need[arrived].any(axis=0)
        held = there + np.where(problem.both_ends, left, 0)
        if (needed & (held > problem.capacity[node])).any():
            return False
    return all(_keeps(rule, problem.assignment, assignment) for rule in problem.rules)


def _keeps(rule: Rule, before: Ints, after: Ints) -> bool:
    match rule:
        case AtMost():
            return all(
                count <= max(int(rule.limit[key[0]]), _counts(rule, before).get(key, 0))
                for key, count in _counts(rule, after).items()
            )
        case MinDomains():
            covers = [_covered(rule, at) for at in (before, after)]
            return all(covers[1][g] >= min(int(least), covers[0][g]) for g, least in enumerate(rule.minimum))
        case Together():
            return _lonely(rule, after) <= _lonely(rule, before)
        case MoveLimit():
            moved = (before != after) & (before >= 0) & (rule.group >= 0)
            return bool((np.bincount(rule.group[moved], minlength=len(rule.limit)) <= rule.limit).all())


def _counts(rule: AtMost | MinDomains | Together, at: Ints) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for pod, node in enumerate(at.tolist()):
        if node >= 0 and rule.group[pod] >= 0:
            key = int(rule.group[pod]), int(rule.domain[node])
            found[key] = found.get(key, 0) + 1
    return found


def _covered(rule: MinDomains, at: Ints) -> list[int]:
    present = set(_counts(rule, at))
    return [sum(group == other for other, _ in present) for group in range(len(rule.minimum))]


def _lonely(rule: Together, at: Ints) -> set[tuple[int, int, int, int]]:
    """One member for each pod that lacks its company, so that more of them are worse."""
    counts = _counts(rule, at)
    return {
        (group, needed, domain, alone)
        for group, needed in rule.pairs.tolist()
        for other, domain in counts
        if other == group and (needed, domain) not in counts
        for alone in range(counts[other, domain])
    }
