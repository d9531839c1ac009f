"""The inner loop of annealing equals the array operations, keeps its counts true, and does the same when compiled."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.local_search import shift_changes
from tests.bench.roadef.files import Instance
from tests.bench.roadef.random_instances import random_instance
from tests.bench.roadef.reassign.kernel import Random, State, anneal, compile_kernel, shift_change, swap_change
from tests.bench.roadef.reassign.swaps import swap_changes
from tests.optimizer.tiny import is_feasible

pytestmark = [pytest.mark.rest, pytest.mark.xdist_group("compiled annealing")]
_STEPS = 1500


def _state(instance: Instance, placement: Arrangement) -> State:
    return instance.objective.prepare(instance.problem).kernel_state(placement)


def _random(seed: int) -> Random:
    return np.random.default_rng(seed).integers(1, 2**64, size=1, dtype=np.uint64)


def _annealed(instance: Instance, seed: int) -> Arrangement:
    """A placement with moved pods, which hold what they need at both ends."""
    state = _state(instance, Arrangement(instance.problem))
    anneal(state, _random(seed), 50.0, _STEPS)
    return Arrangement(instance.problem, state.at)


def _guide_sum(instance: Instance, placement: Arrangement) -> float:
    guide = instance.objective.prepare(instance.problem)
    nodes, pods = np.arange(instance.problem.num_nodes), np.arange(instance.problem.num_pods)
    return float(guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_shifts_are_those_of_the_array_operations(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = _annealed(instance, seed), instance.objective.prepare(instance.problem)
    pods, nodes = np.arange(instance.problem.num_pods), np.arange(instance.problem.num_nodes)
    state = _state(instance, placement)

    changes = [[shift_change(state, pod, node) for node in nodes.tolist()] for pod in pods.tolist()]

    np.testing.assert_allclose(changes, shift_changes(placement, guide, pods, nodes))


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_swaps_are_those_of_the_array_operations(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = _annealed(instance, seed), instance.objective.prepare(instance.problem)
    pods, others = placement.evictable_on(0), placement.evictable_on(1)
    state = _state(instance, placement)

    changes = [[swap_change(state, pod, other) for other in others.tolist()] for pod in pods.tolist()]

    np.testing.assert_allclose(changes, swap_changes(placement, guide, pods, others))


@pytest.mark.parametrize("seed", range(6))
def test_annealed_assignment_keeps_the_rules_and_its_changes_add_up(seed: int) -> None:
    instance = random_instance(seed)
    placement = Arrangement(instance.problem)
    before, state = _guide_sum(instance, placement), _state(instance, placement)

    change = anneal(state, _random(seed), 50.0, _STEPS)

    placement.reset(state.at)
    assert (state.at != instance.problem.assignment).any()
    assert is_feasible(instance.problem, state.at)
    assert _guide_sum(instance, placement) - before == pytest.approx(change)


@pytest.mark.parametrize("seed", range(3))
def test_counts_after_annealing_equal_counts_of_the_assignment(seed: int) -> None:
    instance = random_instance(seed)
    state = _state(instance, Arrangement(instance.problem))

    anneal(state, _random(seed), 50.0, _STEPS)

    fresh = _state(instance, Arrangement(instance.problem, state.at))
    spare = {"limit_counts", "spread_counts", "spread_covered", "company_counts"}
    for name, kept, counted in zip(State._fields, state, fresh, strict=True):
        rows = slice(None, -1) if name in spare else slice(None)
        np.testing.assert_array_equal(kept[rows], counted[rows], err_msg=name)


def test_nothing_is_proposed_where_no_pod_may_move() -> None:
    instance = random_instance(1)
    problem = dataclasses.replace(instance.problem, evictable=np.zeros(instance.problem.num_pods, bool))
    state = _state(Instance(problem, instance.objective), Arrangement(problem))

    assert anneal(state, _random(7), 50.0, _STEPS) == 0.0


def test_compiled_loop_does_what_the_plain_one_does() -> None:
    instance = random_instance(1)
    state = _state(instance, Arrangement(instance.problem))
    other = copy.deepcopy(state)

    compiled = compile_kernel()(state, _random(7), 50.0, _STEPS)
    plain = anneal(other, _random(7), 50.0, _STEPS)

    assert compiled == plain
    np.testing.assert_array_equal(state.at, other.at)
