"""How many pods of a workload may be away at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.eviction.migration_controller.workloads import allowed_at_once


@pytest.mark.parametrize(
    ("replicas", "share", "expected"),
    [
        pytest.param(0, None, 0, id="none of an unknown workload"),
        pytest.param(3, None, 1, id="one of up to three"),
        pytest.param(4, None, 2, id="two from four"),
        pytest.param(10, None, 2, id="two up to ten"),
        pytest.param(11, None, 1, id="a tenth above ten, so fewer at first"),
        pytest.param(20, None, 2, id="a tenth of twenty"),
        pytest.param(7, "50%", 3, id="percentages are rounded down"),
        pytest.param(7, "1%", 1, id="at least one"),
        pytest.param(7, 0, 1, id="at least one of a number, too"),
        pytest.param(2, 5, 2, id="never more than there are"),
    ],
)
def test_allowance(replicas: int, share: int | str | None, expected: int) -> None:
    assert allowed_at_once(replicas, share) == expected


@given(st.integers(1, 10_000), st.one_of(st.none(), st.integers(0, 200), st.integers(0, 300).map("{}%".format)))
def test_allowance_is_at_least_one_and_at_most_all(replicas: int, share: int | str | None) -> None:
    assert 1 <= allowed_at_once(replicas, share) <= replicas
