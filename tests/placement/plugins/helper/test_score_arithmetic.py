"""Go's arithmetic on scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.placement.plugins.helper.scores import normalize, tdiv

INTS = st.integers(-(2**60), 2**60)


@pytest.mark.long
@given(st.lists(st.tuples(INTS, st.integers(1, 2**60)), min_size=1))
def test_quotients_are_cut_toward_zero(pairs: list[tuple[int, int]]) -> None:
    numerators, denominators = zip(*pairs, strict=True)

    quotients = tdiv(np.array(numerators, dtype=np.int64), np.array(denominators, dtype=np.int64)).tolist()

    assert quotients == [abs(n) // d if n >= 0 else -(abs(n) // d) for n, d in pairs]


def test_products_beyond_int64_wrap_as_those_of_the_scheduler_do() -> None:
    quotient = tdiv(np.array([2**62], dtype=np.int64) * 3, 2)

    assert quotient.tolist() == [-(2**61)]


@pytest.mark.parametrize(
    ("raw", "is_reversed", "expected"),
    [
        pytest.param([10, 40, 0], False, [25, 100, 0], id="in proportion to the highest"),
        pytest.param([0, 1, 2], True, [100, 50, 0], id="or to what is missing to it"),
        pytest.param([1, 3], False, [33, 100], id="fractions are cut"),
        pytest.param([0, 0], False, [0, 0], id="all zeros stay"),
        pytest.param([0, 0], True, [100, 100], id="or are all best"),
        pytest.param([], False, [], id="no nodes, no scores"),
    ],
)
def test_scores_are_normalised(raw: list[int], is_reversed: bool, expected: list[int]) -> None:
    assert normalize(np.array(raw, dtype=np.int64), max(raw, default=0), is_reversed=is_reversed).tolist() == expected
