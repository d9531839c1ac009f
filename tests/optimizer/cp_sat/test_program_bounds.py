"""What programs of whole numbers gain at most is what the best of all choices gains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from descheduler.optimizer.cp_sat.column_program import ColumnProgram
from descheduler.optimizer.cp_sat.integer_program import IntegerProgram


@pytest.mark.parametrize("seed", range(12))
def test_no_choices_within_the_limits_gain_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    most, gains = rng.integers(1, 3, 4), rng.integers(-3, 6, 4)
    rows, limits = rng.integers(-2, 5, (2, 4)), rng.integers(-1, 8, 2)
    program = IntegerProgram(work=1.0)
    choices = [program.choose(each) for each in most.tolist()]
    for row, limit in zip(rows, limits.tolist(), strict=True):
        program.limit(dict(zip(choices, row.tolist(), strict=True)), limit)

    found = program.most_gained(dict(zip(choices, gains.tolist(), strict=True)))

    every = np.array(list(itertools.product(*(range(each + 1) for each in most.tolist()))))
    allowed = every[(every @ rows.T <= limits).all(axis=1)]
    assert found == max((int(each @ gains) for each in allowed), default=None)
    if found is not None:
        assert np.array(program.taken) @ gains == found


def test_amounts_with_a_common_factor_are_limited_by_what_they_fill() -> None:
    program = IntegerProgram(work=1.0)
    first, second = program.choose(9), program.choose(9)
    program.limit({first: 4, second: 6}, 11)

    assert program.most_gained({first: 1}) == 2
    assert program.most_gained({second: 1}) == 1


def test_a_choice_is_one_at_most_unless_it_may_be_more() -> None:
    program = IntegerProgram(work=1.0)

    assert program.most_gained({program.choose(): 1, program.choose(3): 10}) == 31


@pytest.mark.parametrize("seed", range(8))
def test_whole_columns_are_the_best_of_all_within_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gains, most = rng.integers(1, 9, 4), rng.integers(1, 3, 4)
    rows, limits = rng.integers(0, 4, (2, 4)), rng.integers(2, 7, 2)
    program = ColumnProgram(limits, 1)
    columns = zip(gains.tolist(), most.tolist(), rows.T.tolist(), strict=True)
    numbers = [program.add(gain, times, dict(enumerate(column))) for gain, times, column in columns]
    assert numbers == [0, 1, 2, 3]
    relaxed = program.relax(float("inf"))
    assert relaxed is not None

    whole = program.solve_whole(relaxed, 4, seconds=float("inf"), work=1.0, seed=0)

    every = np.array(list(itertools.product(*(range(each + 1) for each in most.tolist()))))
    best = max(int(each @ gains) for each in every[(every @ rows.T <= limits).all(axis=1)])
    assert (rows @ whole.values <= limits).all()
    assert whole.values @ gains == best
    assert relaxed.values @ gains >= best - 1e-6
    assert (relaxed.prices >= -1e-9).all()


def test_columns_that_lose_least_at_the_prices_are_taken_beside_those_of_the_fractions() -> None:
    """The row costs 5: of the columns that are not taken one loses 1 and the other 4."""
    program = ColumnProgram(np.array([2, 1, 9]), 1)
    for gain, row in ((5, {0: 1, 2: 1}), (1, {0: 1, 2: 1}), (4, {0: 1, 2: 1}), (3, {1: 1})):
        program.add(gain, 2, row)
    relaxed = program.relax(float("inf"))
    assert relaxed is not None
    assert relaxed.values.tolist() == [2, 0, 0, 1]

    whole = program.solve_whole(relaxed, 3, seconds=1.0, work=1.0, seed=0)

    assert whole.values.tolist() == [2, 0, 0, 1]
    assert whole.work >= 0
