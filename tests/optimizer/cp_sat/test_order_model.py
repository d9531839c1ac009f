"""The model with the order of moves in it, beside all orders of all moves, played one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, Problem, RepairViolations, Together, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.cp_sat.order_model import state_order
from descheduler.optimizer.cp_sat.rule_model import state_rules
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.objective import Neighbourhood, PreparedObjective, Value
from descheduler.optimizer.rules import Rule
from tests.optimizer.cp_sat.ways import Places, distinct_ways
from tests.optimizer.tiny import random_problem


def best_in_order(goal: PreparedObjective, problem: Problem) -> Value:
    """Of all assignments to which moves lead, each pod moved once."""
    placement, values, seen = Arrangement(problem), [goal.value(problem.assignment)], set[tuple[int, ...]]()

    def go_on() -> None:
        for pod in np.flatnonzero(problem.evictable & (placement.at == problem.assignment)).tolist():
            for node in range(problem.num_nodes):
                if node != placement.at[pod] and placement.is_open(pod, node):
                    placement.move(pod, node)
                    state = tuple(placement.at.tolist())
                    if state not in seen:
                        seen.add(state)
                        values.append(goal.value(placement.at))
                        go_on()
                    placement.move(pod, int(problem.assignment[pod]))

    go_on()
    return min(values)


def reached_by_model(goal: PreparedObjective, problem: Problem) -> Ints:
    """Where the model leads."""
    whole = Neighbourhood(np.arange(problem.num_nodes), np.flatnonzero(problem.evictable))
    placement = Arrangement(problem)
    solved = solve_neighbourhood(
        goal, placement, whole, work_limit=float("inf"), seconds_limit=float("inf"), seed=0, in_order=True
    )
    for pod, node in solved.changes:
        placement.move(pod, node)
    return placement.at


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_moves_leads_to_more(seed: int) -> None:
    drawn = random_problem(np.random.default_rng(seed))
    rules = tuple(rule for rule in drawn.rules if isinstance(rule, AtMost | MaxSkew | Together))
    problem = dataclasses.replace(drawn, rules=rules, both_ends=np.zeros_like(drawn.both_ends))
    goal = RepairViolations(weight=np.arange(problem.num_pods) % 3).prepare(problem)

    assert goal.value(reached_by_model(goal, problem)) == best_in_order(goal, problem)


def test_pods_that_have_room_each_but_not_both_do_not_arrive_at_once() -> None:
    """The pod of 2 can leave its node of 3 once both others are there, and so they cannot be."""
    problem = make_problem([[1], [1], [2]], [[2], [3]], [0, 0, 1])
    goal = RepairViolations(weight=np.ones(3, np.int64)).prepare(problem)

    assert goal.value(reached_by_model(goal, problem)) == best_in_order(goal, problem) == (2, 1)


def web_and_databases(group: list[int], *, capacity: int) -> Problem:
    """Pods of node 0 that have to leave; those of group 0 are only where one of group 1 is."""
    needs = Together(np.array(group), np.arange(2), np.array([[0, 1]]))
    return make_problem([[1]] * len(group), [[4], [capacity]], [0] * len(group), rules=[needs])


def test_pods_go_to_another_node_after_one_that_they_need_while_another_one_of_it_stays() -> None:
    problem = web_and_databases([0, 0, 1, 1], capacity=3)
    goal = RepairViolations(weight=np.ones(4, np.int64)).prepare(problem)

    assert goal.value(reached_by_model(goal, problem)) == (1, 3)


@pytest.mark.parametrize("home", [0, 1])
def test_a_pod_and_the_only_one_that_it_needs_stay(home: int) -> None:
    needs = Together(np.array([0, 1]), np.arange(2), np.array([[0, 1]]))
    problem = make_problem([[1]] * 2, [[4]] * 2, [home] * 2, rules=[needs])
    goal = RepairViolations(weight=np.ones(2, np.int64)).prepare(problem)

    assert reached_by_model(goal, problem).tolist() == [home] * 2


@pytest.mark.parametrize("pod", [0, 1, 4])
def test_a_pod_goes_where_one_stays_that_it_needs_and_from_where_another_one_stays_that_is_needed(pod: int) -> None:
    """Pods 2 and 3, on both nodes, stay; pod 0 needs one of them or pod 1, and pod 4 is of another group."""
    rule = Together(np.array([0, 1, 1, 1, 2]), np.arange(2), np.array([[0, 1]]))
    problem = make_problem([[1]] * 5, [[5], [5]], [0, 0, 0, 1, 0], evictable=np.arange(5) == pod, rules=[rule])
    goal = RepairViolations(weight=np.ones(5, np.int64)).prepare(problem)

    assert reached_by_model(goal, problem)[pod] == 1


def test_a_pod_without_the_company_that_it_needs_goes_to_where_it_stays() -> None:
    rule = Together(np.array([0, 1]), np.arange(2), np.array([[0, 1]]))
    problem = make_problem([[1]] * 2, [[5], [5]], [0, 1], evictable=[True, False], rules=[rule])
    goal = RepairViolations(weight=np.ones(2, np.int64)).prepare(problem)

    assert reached_by_model(goal, problem).tolist() == [1, 1]


def test_a_pod_goes_to_another_node_of_a_zone_that_has_too_many() -> None:
    rule = AtMost(np.zeros(2, np.int64), np.array([0, 0]), np.array([1]))
    problem = make_problem([[1]] * 2, [[5], [5]], [0, 0], evictable=[True, False], rules=[rule])
    goal = RepairViolations(weight=np.ones(2, np.int64)).prepare(problem)

    assert reached_by_model(goal, problem).tolist() == [1, 0]


def led_to(problem: Problem) -> set[Places]:
    """Where pods can be after single moves, each pod moved once."""
    start = tuple(problem.assignment.tolist())
    waiting, seen = [start], {start}
    while waiting:
        at = np.array(waiting.pop())
        placement = Arrangement(problem, at)
        pods = np.flatnonzero(problem.evictable & (at == problem.assignment))
        for row, node in np.argwhere(placement.open_moves(pods, np.arange(problem.num_nodes))).tolist():
            at[pods[row]] = node
            after = tuple(at.tolist())
            at[pods[row]] = problem.assignment[pods[row]]
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def tight_problem(kind: type[Rule] | None, rng: np.random.Generator) -> Problem:
    """Four pods, of which one stays, on three nodes; without a rule of that kind, with room for few at a time."""
    group, domain = rng.choice([0, 0, 0, 1, -1], 4), rng.choice([0, 0, 1, 2, -1], 3)
    there = rng.random((2, 3)) < rng.choice([0.0, 0.8, 1.0])
    made: dict[type[Rule], Rule] = {
        AtMost: AtMost(group, domain, rng.integers(1, 3, 2)),
        MaxSkew: MaxSkew(group, domain, rng.integers(1, 3, 2), there, others=rng.integers(0, 2, (2, 3))),
        Together: Together(rng.choice([0, 0, 1, 2], 4), domain, rng.integers(0, 3, (2, 2))),
    }
    return make_problem(
        rng.integers(1, 4, (4, 1)),
        rng.integers(3, 7, (3, 1)) if kind is None else [[20]] * 3,
        [*rng.choice([-1, 0, 0, 1, 1, 2], 3), int(rng.integers(3))],
        evictable=np.arange(4) != 3,
        rules=[] if kind is None else [made[kind]],
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [None, AtMost, MaxSkew, Together])
def test_a_plan_leads_to_all_that_single_moves_lead_to(kind: type[Rule] | None, seed: int) -> None:
    problem = tight_problem(kind, np.random.default_rng(seed))
    placement = Arrangement(problem)
    model = NodeModel(placement, Neighbourhood(np.arange(3), np.flatnonzero(problem.evictable)))

    state_rules(model, placement)
    state_order(model, placement)

    assert distinct_ways(model, placement.at) == led_to(problem)
