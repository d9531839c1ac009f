"""Annealing that may overload nodes pays for it, more where it lasts, and leads to no placement that is overloaded."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget, Limits
from tests.bench.roadef.random_instances import random_instance
from tests.bench.roadef.reassign import compiled_annealing
from tests.bench.roadef.reassign.compiled_annealing import CompiledAnnealing
from tests.bench.roadef.reassign.kernel import Random, State, anneal, shift_change, swap_change
from tests.bench.roadef.reassign.overload_prices import OverloadPrices, is_overloaded

pytestmark = pytest.mark.rest

_PRICE = 1.5


def _state(seed: int, at: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None) -> State:
    instance = random_instance(seed)
    state = instance.objective.prepare(instance.problem).kernel_state(Arrangement(instance.problem, at))
    state.is_lenient[0] = True
    state.price[:] = _PRICE
    return state


def _random(seed: int) -> Random:
    return np.random.default_rng(seed).integers(1, 2**64, size=1, dtype=np.uint64)


def _sum(seed: int, state: State) -> float:
    """The guide's sum, and the price of all that is short, both counted from the assignment alone."""
    instance = random_instance(seed)
    guide, placement = instance.objective.prepare(instance.problem), Arrangement(instance.problem, state.at)
    nodes, pods = np.arange(instance.problem.num_nodes), np.arange(instance.problem.num_pods)
    cost = guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum()
    short = np.maximum(-_state(seed, state.at).free_while_moving, 0.0).sum()
    return float(cost + _PRICE * short)


@pytest.mark.parametrize("seed", range(4))
def test_changes_with_the_price_of_overload_add_up(seed: int) -> None:
    state = _state(seed)
    before = _sum(seed, state)

    change = anneal(state, _random(seed), 200.0, 1500)

    assert is_overloaded(state)
    assert _sum(seed, state) - before == pytest.approx(change)


def test_moves_and_swaps_are_open_to_full_nodes_only_while_overload_is_paid_for() -> None:
    state = _state(1)
    pods, nodes = range(len(state.at)), range(len(state.free))
    state.free[:] = state.free_while_moving[:] = 0.0

    paid = [np.isfinite(shift_change(state, pod, node)) for pod in pods for node in nodes]
    swapped = [np.isfinite(swap_change(state, pod, other)) for pod in pods for other in pods]
    state.is_lenient[0] = False
    strict = [np.isfinite(shift_change(state, pod, node)) for pod in pods for node in nodes]
    strictly_swapped = [np.isfinite(swap_change(state, pod, other)) for pod in pods for other in pods]

    assert sum(paid) > sum(strict)
    assert sum(swapped) > sum(strictly_swapped)


def test_prices_rise_where_overload_lasts_and_fall_back_to_the_first_price_elsewhere() -> None:
    state = _state(1)
    prices = OverloadPrices(state, 0.5)
    first = state.price[0, 0]
    state.free_while_moving[:] = 1.0
    state.free_while_moving[0, 0] = -1e6

    prices.adapt(0.01, 50.0)
    raised = state.price.copy()
    state.free_while_moving[0, 0] = 1.0
    prices.adapt(0.3, 50.0)

    assert raised[0, 0] > first
    assert (np.delete(raised.ravel(), 0) == first).all()
    assert (state.price == first).all()


def test_overload_that_the_temperature_explains_is_put_up_with_at_first_alone() -> None:
    state = _state(1)
    prices = OverloadPrices(state, 0.5)
    first = state.price[0, 0]
    state.free_while_moving[:] = 1.0
    state.free_while_moving[0, 0] = -1.0

    prices.adapt(0.01, 1e6)
    early = state.price[0, 0]
    prices.adapt(0.8, 1e6)
    prices.adapt(0.81, 1e6)

    assert early == first
    assert state.price[0, 0] > first


def test_annealing_that_ends_overloaded_leaves_the_placement_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def overload(state: State, random: Random, temperature: float, steps: int) -> None:
        if state.is_lenient[0]:
            state.at[:] = 0
            state.free_while_moving[0] = -1.0

    monkeypatch.setattr(compiled_annealing, "compile_kernel", lambda: overload)
    instance = random_instance(1)
    placement = Arrangement(instance.problem)
    goal = instance.objective.prepare(instance.problem)
    annealing = CompiledAnnealing(placement, lambda: goal.kernel_state(placement), 50.0, np.random.default_rng(1))
    budget = Budget(Limits(work=1.0))

    annealing.run(budget, budget, 1.0)

    np.testing.assert_array_equal(placement.at, instance.problem.assignment)
