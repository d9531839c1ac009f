"""Plans for tiny clusters, beside the best of all final states."""

from __future__ import annotations

import pytest

from tests.planner.tiny_plans import OBJECTIVES, fault_of, planned, world_of
from tests.series import first_of


@pytest.mark.parametrize("seed", first_of(1, range(200)))
@pytest.mark.parametrize("chooses", [True, False], ids=["the plan chooses nodes", "the scheduler chooses nodes"])
@pytest.mark.parametrize("key", sorted(OBJECTIVES))
def test_a_plan_is_sound_and_says_nothing_that_is_not_true(key: str, *, chooses: bool, seed: int) -> None:
    world = world_of(key, seed)

    assert fault_of(key, world, planned(key, world, chooses=chooses)) == ""
