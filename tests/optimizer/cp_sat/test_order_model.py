"""The model with the order of moves in it, beside all orders of all moves, played one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, Problem, RepairViolations, Together, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.objective import Neighbourhood, PreparedObjective, Value
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


def web_and_databases(group: list[int], *, capacity: int) -> Problem:
    """Pods of node 0 that have to leave; those of group 0 are only where one of group 1 is."""
    needs = Together(np.array(group), np.arange(2), np.array([[0, 1]]))
    return make_problem([[1]] * len(group), [[4], [capacity]], [0] * len(group), rules=[needs])


def test_pods_go_to_another_node_after_one_that_they_need_while_another_one_of_it_stays() -> None:
    problem = web_and_databases([0, 0, 1, 1], capacity=3)
    goal = RepairViolations(weight=np.ones(4, np.int64)).prepare(problem)

    assert goal.value(reached_by_model(goal, problem)) == (1, 3)


def test_a_pod_and_the_only_one_that_it_needs_stay() -> None:
    problem = web_and_databases([0, 1], capacity=4)
    goal = RepairViolations(weight=np.ones(2, np.int64)).prepare(problem)

    assert reached_by_model(goal, problem).tolist() == [0, 0]
