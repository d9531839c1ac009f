"""The inner loop of annealing: its counts stay true, its changes add up, and compiling it changes nothing."""

from __future__ import annotations

import copy
import importlib.util

import numpy as np
import pytest

from descheduler.planner.objectives.reassign.compiled_annealing import make_state
from descheduler.planner.objectives.reassign.kernel import State, anneal, compile_kernel
from descheduler.planner.placement import Placement
from tests.bench.roadef.files import Instance
from tests.planner.reassignments import random_instance
from tests.planner.tiny import is_feasible

_STEPS = 1500


def _state(instance: Instance, placement: Placement) -> State:
    costs = instance.objective
    parts = [(part.per, part.wanted, part.target, part.weight) for part in costs.proportions]
    return make_state(
        placement,
        safety=costs.safety,
        weight=costs.weight,
        proportions=np.array(parts, np.float64),
        between=costs.between,
    )


def _guide_sum(instance: Instance, placement: Placement) -> float:
    guide = instance.objective.prepare(instance.problem)
    nodes, pods = np.arange(instance.problem.num_nodes), np.arange(instance.problem.num_pods)
    return float(guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())


@pytest.mark.parametrize("seed", range(6))
def test_annealed_assignment_keeps_the_rules_and_its_changes_add_up(seed: int) -> None:
    instance = random_instance(seed)
    placement = Placement(instance.problem)
    before, state = _guide_sum(instance, placement), _state(instance, placement)

    change = anneal(state, np.array([seed + 1]), 50.0, _STEPS)

    placement.reset(state.at)
    assert (state.at != instance.problem.assignment).any()
    assert is_feasible(instance.problem, state.at)
    assert _guide_sum(instance, placement) - before == pytest.approx(change)


@pytest.mark.parametrize("seed", range(3))
def test_counts_after_annealing_equal_counts_of_the_assignment(seed: int) -> None:
    instance = random_instance(seed)
    state = _state(instance, Placement(instance.problem))

    anneal(state, np.array([seed + 1]), 50.0, _STEPS)

    fresh = _state(instance, Placement(instance.problem, state.at))
    spare = {"limit_counts", "spread_counts", "spread_covered", "company_counts"}
    for name, kept, counted in zip(State._fields, state, fresh, strict=True):
        rows = slice(None, -1) if name in spare else slice(None)
        np.testing.assert_array_equal(kept[rows], counted[rows], err_msg=name)


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_compiled_loop_does_what_the_plain_one_does() -> None:
    instance = random_instance(1)
    state = _state(instance, Placement(instance.problem))
    other = copy.deepcopy(state)

    compiled = compile_kernel()(state, np.array([7]), 50.0, _STEPS)
    plain = anneal(other, np.array([7]), 50.0, _STEPS)

    assert compiled == plain
    np.testing.assert_array_equal(state.at, other.at)
