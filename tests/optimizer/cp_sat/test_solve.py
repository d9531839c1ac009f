"""Pieces of tiny clusters as models of CP-SAT: the best of all assignments that capacity and rules allow is found."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Problem, Together, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective
from descheduler.optimizer.rules import Rule
from tests.optimizer.tiny import every_assignment, is_feasible, is_unbroken, random_parts_problem, random_problem

_MOST_MOVABLE = 4


class Wishes:
    """What it costs that each pod is on each node, or pending: so that hardly two assignments are equally good."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._costs = rng.integers(1, 1000, (problem.num_pods, problem.num_nodes + 1))

    def of(self, assignment: Ints) -> int:
        """What an assignment costs."""
        return int(self._costs[np.arange(len(assignment)), assignment].sum())

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """As of an objective."""
        for pod in neighbourhood.pods.tolist():
            for node in range(-1, placement.problem.num_nodes):
                if (at := model.is_at(pod, node)) is not None:
                    model.minimise([int(self._costs[pod, node])], [at])


def tiny_problem(kind: type[Rule] | None, seed: int, *, parts: bool = False, both_ends: bool = False) -> Problem:
    """The first one of the seed with an unbroken rule of that kind, or without rules, of which few pods may move."""
    rng = np.random.default_rng(seed)
    while True:
        made = (random_parts_problem if parts else random_problem)(rng, pending=int(rng.integers(0, 2)))
        rules = [rule for rule in made.rules if kind is not None and isinstance(rule, kind)]
        rules = [dataclasses.replace(rule, free=None) if isinstance(rule, MaxSkew) else rule for rule in rules]
        problem = dataclasses.replace(
            made,
            evictable=made.evictable & (np.arange(made.num_pods) < _MOST_MOVABLE),
            rules=tuple(rules),
            both_ends=made.both_ends | True if both_ends else made.both_ends & False,
        )
        if bool(rules) == (kind is not None) and is_unbroken(problem):
            return problem


def crowded_problem(kind: type[Rule], seed: int) -> Problem:
    """Four pods of one or two groups with all the room that they like, so that the rule alone is in their way."""
    rng = np.random.default_rng(seed)
    while True:
        group, domain = rng.choice([0, 0, 0, 1, -1], 4), rng.choice([0, 0, 1, 1, 2, -1], 3)
        skew = MaxSkew(group, domain, rng.integers(1, 3, 2), rng.random((2, 3)) < rng.choice([0.0, 0.8, 0.8]))
        made: dict[type[Rule], Rule] = {
            AtMost: AtMost(group, domain, rng.integers(1, 3, 2)),
            MaxSkew: dataclasses.replace(skew, others=rng.integers(0, 2, (2, 3)) if rng.random() < 0.5 else None),
            MinDomains: MinDomains(group, domain, np.array([2, 1])),
            Together: Together(group, domain, np.array([[0, 1], [1, 0]])[: int(rng.integers(1, 3))]),
            MoveLimit: MoveLimit(group, rng.integers(0, 3, 2)),
        }
        problem = make_problem([[1]] * 4, [[9]] * 3, rng.choice([-1, 0, 0, 1, 1, 2, 2], 4), rules=[made[kind]])
        if is_unbroken(problem) and problem.evictable.all():
            return problem


class Tiers:
    """Wishes in steps, so that many assignments are equally good, and what the moves cost."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._problem, self._tiers = problem, rng.integers(0, 3, problem.num_nodes)

    def of(self, assignment: Ints) -> tuple[int, int]:
        """The sum of the tiers in which pods are, and the cost of the moves."""
        placed = assignment[assignment >= 0]
        return int(self._tiers[placed].sum()), int(self._problem.cost[self._problem.moved(assignment)].sum())

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """As of an objective."""
        unit = 1 + int(self._problem.cost[neighbourhood.pods].sum())
        for pod in neighbourhood.pods.tolist():
            for node in range(placement.problem.num_nodes):
                if (at := model.is_at(pod, node)) is not None:
                    model.minimise([unit * int(self._tiers[node])], [at])
        model.charge_moves(self._problem.cost[neighbourhood.pods], neighbourhood.pods)


def solved(
    problem: Problem,
    wishes: Wishes | Tiers,
    placement: Arrangement,
    pods: Ints,
    *,
    in_order: bool = False,
    for_cost: bool = False,
) -> Ints:
    """Where all pods are in what is found for `pods` on all nodes."""
    neighbourhood = Neighbourhood(np.arange(problem.num_nodes), pods)
    found = solve_neighbourhood(
        cast(PreparedObjective, wishes),
        placement,
        neighbourhood,
        work_limit=float("inf"),
        seconds_limit=float("inf"),
        seed=0,
        in_order=in_order,
        for_cost=for_cost,
    )
    assert found.was_closed
    after = placement.at.copy()
    for pod, node in found.changes:
        after[pod] = node
    return after


KINDS = [
    pytest.param(None, id="no rules"),
    *(pytest.param(kind, id=kind.__name__) for kind in (AtMost, MaxSkew, MinDomains, Together, MoveLimit)),
]


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_of_all_assignments_is_found_that_are_no_worse_than_the_present_one(seed: int) -> None:
    problem, rng = tiny_problem(None, seed), np.random.default_rng(seed)
    problem = dataclasses.replace(problem, cost=rng.integers(1, 6, problem.num_pods))
    tiers = Tiers(problem, rng)
    ways = [at for at in every_assignment(problem) if is_feasible(problem, at)]
    placement = Arrangement(problem)
    placement.reset(max(ways, key=lambda at: (-tiers.of(at)[0], tiers.of(at)[1])))
    figure, cost = tiers.of(placement.at)

    after = solved(problem, tiers, placement, np.flatnonzero(problem.evictable), for_cost=True)

    assert is_feasible(problem, after)
    assert tiers.of(after)[0] <= figure
    assert tiers.of(after)[1] == min(tiers.of(at)[1] for at in ways if tiers.of(at)[0] <= figure) <= cost


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_all_feasible_assignments_is_found(kind: type[Rule] | None, seed: int) -> None:
    problem, wishes = tiny_problem(kind, seed), Wishes(tiny_problem(kind, seed), np.random.default_rng(seed))

    after = solved(problem, wishes, Arrangement(problem), np.flatnonzero(problem.evictable))

    assert is_feasible(problem, after)
    assert wishes.of(after) == min(wishes.of(at) for at in every_assignment(problem) if is_feasible(problem, at))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS[1:])
def test_so_it_is_where_a_rule_alone_is_in_the_way(kind: type[Rule], seed: int) -> None:
    """All pods are solved at once, and two of them after others have moved."""
    rng = np.random.default_rng(seed)
    problem = crowded_problem(kind, seed)
    wishes, placement = Wishes(problem, rng), walked(problem, rng)

    whole = solved(problem, wishes, Arrangement(problem), np.arange(4))
    piece = solved(problem, wishes, placement, np.array([1, 2]))

    feasible = [at for at in every_assignment(problem) if is_feasible(problem, at)]
    kept = [at for at in feasible if (at[[0, 3]] == placement.at[[0, 3]]).all()]
    assert wishes.of(whole) == min(map(wishes.of, feasible))
    assert wishes.of(piece) == min(map(wishes.of, kept))


def is_no_worse(rule: AtMost, before: Ints, now: Ints, after: Ints) -> bool:
    """Whether domains with more pods than their limit and than now have none that were elsewhere before the plan."""
    was, comes = rule.domain[before], rule.domain[after]
    for group, domain in {(g, d) for g, d in zip(rule.group.tolist(), comes.tolist(), strict=True) if min(g, d) >= 0}:
        there = (rule.group == group) & (comes == domain)
        most = max(int(rule.limit[group]), int(((rule.group == group) & (rule.domain[now] == domain)).sum()))
        if there.sum() > most and (was[there] != domain).any():
            return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_a_domain_with_too_many_pods_may_have_them_again(seed: int) -> None:
    """Where one has come that was elsewhere it has no more than it has now."""
    rng = np.random.default_rng(seed)
    before = rng.choice([0, 0, 0, 1], 4)
    rule = AtMost(rng.choice([0, 0, 0, 1], 4), rng.choice([0, 1, 1, 2, -1], 3), rng.integers(1, 3, 2))
    problem = make_problem([[1]] * 4, [[9]] * 3, before, rules=[rule])
    wishes, placement = Wishes(problem, rng), walked(problem, rng)

    whole = solved(problem, wishes, Arrangement(problem), np.arange(4))
    piece = solved(problem, wishes, placement, np.array([1, 2]))

    every = list(every_assignment(problem))
    kept = [at for at in every if (at[[0, 3]] == placement.at[[0, 3]]).all()]
    assert wishes.of(whole) == min(wishes.of(at) for at in every if is_no_worse(rule, before, before, at))
    assert wishes.of(piece) == min(wishes.of(at) for at in kept if is_no_worse(rule, before, placement.at, at))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("group", [0, 1])
def test_pods_come_back_together_unless_another_of_their_group_has_come(group: int, seed: int) -> None:
    """Two have left the only domain, which is for one, and a third is there now."""
    rule = AtMost(np.array([group, 0, 0]), np.array([0, -1, -1]), np.array([1, 1]))
    problem = make_problem([[1]] * 3, [[9]] * 3, before := np.array([1, 0, 0]), rules=[rule])
    wishes, placement = Wishes(problem, np.random.default_rng(seed)), Arrangement(problem)
    for pod, node in [(1, 2), (2, 2), (0, 0)]:
        placement.move(pod, node)

    after = solved(problem, wishes, placement, np.array([1, 2]))

    kept = [at for at in every_assignment(problem) if at[0] == 0]
    assert wishes.of(after) == min(wishes.of(at) for at in kept if is_no_worse(rule, before, placement.at, at))


def keeps_spread(rule: MaxSkew, before: Ints, after: Ints) -> bool:
    """Whether no domain that a pod has come to that the rule holds for has too many pods."""
    counts, was, now = rule.count(after), rule.domain[before], rule.domain[after]
    for pod in np.flatnonzero(rule.holds_for(np.arange(len(before))) & (now != was) & (now >= 0)).tolist():
        group = int(rule.group[pod])
        least = min(counts[group][rule.there[group]], default=0)
        if counts[group, now[pod]] - least > rule.skew[group]:
            return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_pods_that_no_spread_holds_for_make_it_as_uneven_as_they_like(seed: int) -> None:
    """Others come to no domain that has too many pods then."""
    rng = np.random.default_rng(seed)
    before, free = rng.integers(0, 3, 4), np.arange(4) == 1
    there = rng.random((1, 3)) < 0.8
    rule = MaxSkew(np.zeros(4, np.int64), rng.permutation([0, 1, 2]), np.array([1]), there, free=free)
    problem = make_problem([[1]] * 4, [[9]] * 3, before, rules=[rule])
    wishes = Wishes(problem, rng)

    after = solved(problem, wishes, Arrangement(problem), np.arange(4))

    assert wishes.of(after) == min(wishes.of(at) for at in every_assignment(problem) if keeps_spread(rule, before, at))


def has_room_twice(rule: MaxSkew, before: Ints, after: Ints) -> bool:
    """Whether, before the plan or after it, one more fits each domain of a pod that goes to another node there."""
    domains = rule.domain[before][(before != after) & (rule.domain[before] == rule.domain[after])].tolist()
    rows = [rule.count(at)[0] for at in (before, after)]
    least = [min(row[rule.there[0]], default=0) for row in rows]
    return all(any(row[at] + 1 - few <= rule.skew[0] for row, few in zip(rows, least, strict=True)) for at in domains)


@pytest.mark.parametrize("seed", range(16))
def test_room_of_a_spread_is_held_for_pods_that_stay_in_their_domain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    there = np.array([[True, True]])
    rule = MaxSkew(np.zeros(4, np.int64), np.array([0, 0, 1, 1]), rng.integers(1, 3, 1), there, holds_first=True)
    problem = make_problem([[1]] * 4, [[9]] * 4, before := rng.permutation([0, 1, 2, 2]), rules=[rule])
    wishes = Wishes(problem, rng)

    after = solved(problem, wishes, Arrangement(problem), np.arange(4))

    feasible = [at for at in every_assignment(problem) if is_feasible(problem, at)]
    assert wishes.of(after) == min(wishes.of(at) for at in feasible if has_room_twice(rule, before, at))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("parts", "both_ends"), [(True, False), (False, True), (True, True)])
def test_so_it_is_over_parts_and_where_resources_are_held_at_both_ends(parts: bool, both_ends: bool, seed: int) -> None:
    problem = tiny_problem(None, seed, parts=parts, both_ends=both_ends)
    wishes = Wishes(problem, np.random.default_rng(seed))

    after = solved(problem, wishes, Arrangement(problem), np.flatnonzero(problem.evictable))

    assert is_feasible(problem, after)
    assert wishes.of(after) == min(wishes.of(at) for at in every_assignment(problem) if is_feasible(problem, at))


def walked(problem: Problem, rng: np.random.Generator) -> Arrangement:
    """A placement after a few moves that were open."""
    placement, pods = Arrangement(problem), np.flatnonzero(problem.evictable)
    for _ in range(3):
        choices = np.argwhere(placement.open_moves(pods, np.arange(problem.num_nodes)))
        if len(choices):
            row, node = choices[int(rng.integers(len(choices)))].tolist()
            placement.move(int(pods[row]), node)
    return placement


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("both_ends", [False, True])
def test_a_piece_is_solved_anew_while_the_rest_stays(kind: type[Rule] | None, seed: int, both_ends: bool) -> None:
    """The rest has been moved before, of which rules and room know."""
    rng = np.random.default_rng(seed)
    problem = tiny_problem(kind, seed, both_ends=both_ends)
    placement, wishes = walked(problem, rng), Wishes(problem, rng)
    pods = np.flatnonzero(problem.evictable)[::2]

    after = solved(problem, wishes, placement, pods)

    stays = ~np.isin(np.arange(problem.num_pods), pods)
    others = (at for at in every_assignment(problem) if (at[stays] == placement.at[stays]).all())
    assert is_feasible(problem, after)
    assert wishes.of(after) == min(wishes.of(at) for at in others if is_feasible(problem, at))


def reachable(problem: Problem) -> Iterator[Ints]:
    """The assignments to which open moves lead one after the other, each pod moved once."""
    start = tuple(problem.assignment.tolist())
    waiting, seen = deque([start]), {start}
    while waiting:
        at = np.array(waiting.popleft())
        yield at
        placement = Arrangement(problem)
        placement.reset(at)
        pods = np.flatnonzero(problem.evictable & (at == problem.assignment))
        for row, node in np.argwhere(placement.open_moves(pods, np.arange(problem.num_nodes))).tolist():
            after = at.copy()
            after[pods[row]] = node
            key = tuple(after.tolist())
            if key not in seen:
                seen.add(key)
                waiting.append(key)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [None, AtMost, MaxSkew])
@pytest.mark.parametrize(("holds_first", "is_crowded"), [(False, False), (False, True), (True, True)])
def test_in_order_the_best_is_found_that_single_moves_lead_to(
    kind: type[Rule] | None, seed: int, holds_first: bool, is_crowded: bool
) -> None:
    made = crowded_problem(kind, seed) if is_crowded and kind is not None else tiny_problem(kind, seed)
    rules = [
        dataclasses.replace(rule, holds_first=holds_first) if isinstance(rule, MaxSkew) else rule for rule in made.rules
    ]
    problem = dataclasses.replace(made, rules=tuple(rules))
    wishes = Wishes(problem, np.random.default_rng(seed))

    after = solved(problem, wishes, Arrangement(problem), np.flatnonzero(problem.evictable), in_order=True)

    assert wishes.of(after) == min(wishes.of(at) for at in reachable(problem))


def narrow_problem(rng: np.random.Generator, *, is_skew: bool, holds_first: bool) -> Problem:
    """Three pods of one group on four nodes, for which a rule alone leaves little room."""
    while True:
        group, domain = np.zeros(3, np.int64), rng.choice([0, 0, 1, 2], 4)
        there = rng.random((1, 3)) < rng.choice([0.0, 0.7, 1.0])
        skew = MaxSkew(group, domain, rng.integers(1, 3, 1), there, holds_first=holds_first)
        rule = skew if is_skew else AtMost(group, domain, np.array([1]))
        problem = make_problem([[1]] * 3, [[9]] * 4, rng.integers(0, 4, 3), rules=[rule])
        if is_unbroken(problem):
            return problem


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("is_skew", "holds_first"), [(False, False), (True, False), (True, True)])
def test_in_order_pods_do_not_change_places_where_a_rule_has_no_room_for_two(
    is_skew: bool, holds_first: bool, seed: int
) -> None:
    """Room that is held counts as in models without an order."""
    rng = np.random.default_rng(seed)
    problem = narrow_problem(rng, is_skew=is_skew, holds_first=holds_first)
    wishes, rule = Wishes(problem, rng), problem.rules[0]

    after = solved(problem, wishes, Arrangement(problem), np.arange(3), in_order=True)

    assert wishes.of(after) == min(
        wishes.of(at)
        for at in reachable(problem)
        if not (isinstance(rule, MaxSkew) and holds_first) or has_room_twice(rule, problem.assignment, at)
    )
