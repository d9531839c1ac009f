"""Plans that drain nodes of tiny clusters, beside the best of all final states."""

from __future__ import annotations

import pytest

from tests.planner.tiny_drains import fault_of, planned, tiny_drain


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_is_whole_and_says_nothing_that_is_not_true(seed: int) -> None:
    world = tiny_drain(seed)

    assert fault_of(world, planned(world)) == ""
