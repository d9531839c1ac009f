"""The machine reassignment challenge: costs, bound, search and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from descheduler.optimizer import Limits
from descheduler.optimizer.arrangement import Arrangement
from tests.bench.roadef.files import Instance, read_instance, write_assignment
from tests.bench.roadef.random_instances import cost_of, random_instance
from tests.bench.roadef.searching import find_assignment
from tests.optimizer.tiny import is_feasible

pytestmark = [pytest.mark.rest, pytest.mark.xdist_group("compiled annealing")]
"""One worker compiles it, which takes some ten seconds where numba has no cache of it yet."""


def test_value_is_the_cost_of_the_challenge() -> None:
    for seed in range(30):
        instance = random_instance(seed)
        assignment = np.random.default_rng(seed).integers(0, 5, instance.problem.num_pods)

        value = instance.objective.prepare(instance.problem).value(assignment)

        assert value == (cost_of(instance, assignment),)


def test_search_betters_the_cost_and_keeps_the_rules_and_the_bound() -> None:
    for seed in range(2):
        instance = random_instance(seed)
        prepared = instance.objective.prepare(instance.problem)

        found = find_assignment(instance, Limits(work=0.1))

        assert is_feasible(instance.problem, found)
        assert prepared.bound() <= prepared.value(found) < prepared.value(instance.problem.assignment)
        assert prepared.value(found) == (cost_of(instance, found),)


def test_same_seed_and_work_give_the_same_assignment() -> None:
    instance = random_instance(5, pods=300, nodes=8)

    first, second = (find_assignment(instance, Limits(work=0.5), seed=3) for _ in range(2))

    np.testing.assert_array_equal(first, second)
    assert (first != instance.problem.assignment).any()


def test_instance_is_read_as_the_challenge_writes_it(tmp_path: Path) -> None:
    instance = random_instance(1)
    (tmp_path / "model_x.txt").write_text(_model_text(instance))
    write_assignment(tmp_path / "assignment_x.txt", instance.problem.assignment)

    read = read_instance(tmp_path, "x")

    other = np.arange(instance.problem.num_pods)[::-1] % 5
    assert read.objective.prepare(read.problem).value(other) == (cost_of(instance, other),)
    pods, nodes = np.arange(instance.problem.num_pods), np.arange(5)
    expected = Arrangement(instance.problem).open_moves(pods, nodes)
    np.testing.assert_array_equal(Arrangement(read.problem).open_moves(pods, nodes), expected)


def _model_text(instance: Instance) -> str:
    """The instance in the order of the challenge's model files. Weights of moves are 1, as its costs include them."""
    problem, costs = instance.problem, instance.objective
    numbers: list[object] = [2, 1, int(costs.weight[0]), 0, int(costs.weight[1]), problem.num_nodes]
    for node in range(problem.num_nodes):
        numbers += [0, node // 2, *problem.capacity[node], *costs.safety[node], *costs.between[node]]
    services = int(costs.group.max()) + 1
    numbers += [services, 2, 1, 1, *[number for _ in range(services - 1) for number in (1, 0)], problem.num_pods]
    for pod in range(problem.num_pods):
        numbers += [costs.group[pod], *problem.need[pod], problem.cost[pod]]
    part = costs.proportions[0]
    numbers += [1, part.per, part.wanted, part.target, part.weight, 1, costs.group_weight, 1]
    return "\n".join(map(str, numbers)) + "\n"
