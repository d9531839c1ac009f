"""Tiny problems, and every assignment of them: what the planner finds is compared to all there is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Parts, Problem, Together, make_problem
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.rules import Rule


def random_problem(rng: np.random.Generator, *, rules: bool = True, pending: int = 0, empty: int = 0) -> Problem:
    """Five or six pods on three nodes, with two resources, a pinned pod now and then, costs and all kinds of rules.

    The first pods are `pending`, and the last nodes are `empty`, so many of each.
    """
    pods, nodes = int(rng.integers(5, 7)), 3
    need = rng.integers(1, 6, (pods, 2))
    assignment = rng.integers(0, nodes - empty, pods)
    assignment[:pending] = -1
    used = np.zeros((nodes, 2), np.int64)
    np.add.at(used, assignment[assignment >= 0], need[assignment >= 0])
    return make_problem(
        need,
        used + rng.integers(0, 7, (nodes, 2)) + 4 * empty * (used == 0),
        assignment,
        evictable=rng.random(pods) < 0.9,
        cost=rng.integers(0, 4, pods),
        pod_class=rng.integers(0, 2, pods),
        allowed=np.array([[True] * nodes, (rng.random(nodes) < 0.8).tolist()]),
        rules=_random_rules(rng, pods, np.arange(nodes)) if rules else (),
        both_ends=rng.random(2) < 0.3,
    )


def random_parts_problem(rng: np.random.Generator, *, rules: bool = True, pending: int = 0) -> Problem:
    """As `random_problem`, on two machines of two parts: nodes 0, 1, 3 and 4 are one part each, 2 and 5 are two."""
    taken = np.array([[0, -1], [1, -1], [0, 1], [2, -1], [3, -1], [2, 3]])
    machine = np.array([0, 0, 0, 1, 1, 1])
    pods = int(rng.integers(4, 6))
    need = rng.integers(1, 6, (pods, 2))
    assignment = rng.integers(0, len(machine), pods)
    assignment[:pending] = -1
    used = np.zeros((4, 2), np.int64)
    for pod, node in enumerate(assignment.tolist()):
        used[[part for part in taken[node] if part >= 0 and node >= 0]] += need[pod]
    return make_problem(
        need,
        Parts(used + rng.integers(0, 7, (4, 2)), taken, machine),
        assignment,
        evictable=rng.random(pods) < 0.9,
        cost=rng.integers(0, 4, pods),
        pod_class=rng.integers(0, 2, pods),
        allowed=np.array([[True] * 6, (rng.random(6) < 0.8).tolist()]),
        rules=_random_rules(rng, pods, machine) if rules else (),
        both_ends=rng.random(2) < 0.3,
    )


def _random_rules(rng: np.random.Generator, pods: int, machine: Ints) -> list[Rule]:
    zone = np.array([0, 0, 1])[machine]
    group = rng.integers(-1, 3, pods)
    found: list[Rule] = [
        AtMost(group, machine, rng.integers(1, 3, 3)),
        _random_skew(rng, group, zone),
        MinDomains(group, zone, rng.integers(1, 3, 3)),
        Together(rng.integers(-1, 3, pods), zone, rng.integers(0, 3, (2, 2))),
        MoveLimit(np.zeros(pods, np.int64), np.array([int(rng.integers(1, 5))])),
    ]
    return [rule for rule in found if rng.random() < 0.6]


def _random_skew(rng: np.random.Generator, group: Ints, zone: Ints) -> MaxSkew:
    """With pods that count without being held to it, and such as are none of the problem's, in two of three."""
    shape = (3, int(zone.max()) + 1)
    skew, there = rng.integers(1, 3, 3), rng.random(shape) < 0.8
    free = rng.random(len(group)) < 0.3 if rng.random() < 0.7 else None
    others = rng.integers(0, 3, shape) if rng.random() < 0.7 else None
    return MaxSkew(group, zone, skew, there, free=free, others=others)


def every_assignment(problem: Problem) -> Iterator[Ints]:
    """All assignments in which only evictable pods are elsewhere, pending pods included where they are."""
    choices = []
    machine = np.arange(problem.num_nodes) if problem.parts is None else problem.parts.machine
    for pod, node in enumerate(problem.assignment.tolist()):
        is_open = problem.allowed[problem.pod_class[pod]]
        if node >= 0:
            is_open = is_open & (machine != machine[node])
        choices.append(sorted({node, *np.flatnonzero(is_open).tolist()}) if problem.evictable[pod] else [node])
    for nodes in itertools.product(*choices):
        yield np.array(nodes)


def is_feasible(problem: Problem, assignment: Ints) -> bool:
    """Whether the end of a plan keeps capacity and rules, no worse than today; how it gets there is not looked at."""
    for part, capacity in enumerate(problem.part_capacity):
        is_there, was_there = (_takes(problem, at, part) for at in (assignment, problem.assignment))
        there = problem.need[is_there].sum(axis=0)
        left = problem.need[was_there & (assignment != problem.assignment)].sum(axis=0)
        needed = problem.need[is_there & (assignment != problem.assignment)].any(axis=0)
        had_node = is_there & (problem.assignment >= 0)
        arrives = problem.need[had_node & (assignment != problem.assignment)].any(axis=0)
        held = problem.need[had_node].sum(axis=0) + left
        if (needed & (there > capacity)).any() or (problem.both_ends & arrives & (held > capacity)).any():
            return False
    return all(_keeps(rule, problem.assignment, assignment) for rule in problem.rules)


def is_unbroken(problem: Problem) -> bool:
    """Whether all rules hold before the plan."""
    return not any(_breaks(rule, problem.assignment) for rule in problem.rules)


def _breaks(rule: Rule, at: Ints) -> bool:
    match rule:
        case AtMost():
            return any(count > rule.limit[group] for (group, _), count in _counts(rule, at).items())
        case MaxSkew():
            return bool(_uneven(rule, at))
        case MinDomains():
            return bool((np.array(_covered(rule, at)) < rule.minimum).any())
        case Together():
            return bool(_lonely(rule, at))
        case MoveLimit():
            return False


def _takes(problem: Problem, assignment: Ints, part: int) -> Bools:
    taken = np.arange(problem.num_nodes)[:, None] if problem.parts is None else problem.parts.taken
    return np.array([node >= 0 and part in taken[node] for node in assignment.tolist()])


def _keeps(rule: Rule, before: Ints, after: Ints) -> bool:
    match rule:
        case AtMost():
            return all(
                count <= max(int(rule.limit[key[0]]), _counts(rule, before).get(key, 0))
                for key, count in _counts(rule, after).items()
            )
        case MaxSkew():
            moved = (before != after) & (rule.group >= 0)
            is_free = set() if rule.free is None else set(rule.group[moved & rule.free].tolist())
            return {each for each in _uneven(rule, after) - _uneven(rule, before) if each[0] not in is_free} == set()
        case MinDomains():
            covers = [_covered(rule, at) for at in (before, after)]
            return all(covers[1][g] >= min(int(least), covers[0][g]) for g, least in enumerate(rule.minimum))
        case Together():
            return _lonely(rule, after) <= _lonely(rule, before)
        case MoveLimit():
            moved = (before != after) & (before >= 0) & (rule.group >= 0)
            return bool((np.bincount(rule.group[moved], minlength=len(rule.limit)) <= rule.limit).all())


def _counts(rule: AtMost | MaxSkew | MinDomains | Together, at: Ints) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for pod, node in enumerate(at.tolist()):
        if node >= 0 and rule.group[pod] >= 0 and rule.domain[node] >= 0:
            key = int(rule.group[pod]), int(rule.domain[node])
            found[key] = found.get(key, 0) + 1
    return found


def _uneven(rule: MaxSkew, at: Ints) -> set[tuple[int, int, int]]:
    """One member for each pod that a domain has too many of, so that more of them are worse."""
    counts, found = _counts(rule, at), set()
    for (group, domain), number in [] if rule.others is None else np.ndenumerate(rule.others):
        counts[group, domain] = counts.get((group, domain), 0) + int(number)
    for (group, domain), count in counts.items():
        least = min((counts.get((group, int(each)), 0) for each in np.flatnonzero(rule.there[group])), default=0)
        found |= {(group, domain, extra) for extra in range(int(rule.skew[group]), count - least)}
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
