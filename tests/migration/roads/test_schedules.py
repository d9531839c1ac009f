"""Whatever the API answers, and whenever: no wrong eviction, no endless run, nothing left over in the end."""

from __future__ import annotations

import pytest

from tests.migration.roads.schedules import play
from tests.migration.roads.whole_runs import SURGES
from tests.series import first_of

LIST_NESTED_TOO_DEEP = 221
"""The list of jobs holds what no decoder follows to its end."""

POD_CUT_SHORT = 955
"""The pod for which room is to be held arrives in part."""


@pytest.mark.long
@pytest.mark.parametrize("seed", first_of(12, [LIST_NESTED_TOO_DEEP, POD_CUT_SHORT, *range(30)]))
def test_faults_of_the_api_break_no_promise(seed: int) -> None:
    assert play(seed).faults == []


@pytest.mark.long
@pytest.mark.parametrize("seed", first_of(6, range(16)))
def test_nor_one_about_workloads_that_are_surged(seed: int) -> None:
    assert play(seed, SURGES).faults == []
