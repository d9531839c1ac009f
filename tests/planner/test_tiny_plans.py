"""Plans for tiny clusters, beside the best of all final states."""

from __future__ import annotations

import pytest

from tests.planner.tiny_plans import OBJECTIVES, best, fault_of, planned, world_of
from tests.series import first_of


@pytest.mark.parametrize("seed", first_of(1, range(200)))
@pytest.mark.parametrize("chooses", [True, False], ids=["the plan chooses nodes", "the scheduler chooses nodes"])
@pytest.mark.parametrize("key", sorted(OBJECTIVES))
def test_a_plan_is_sound_and_says_nothing_that_is_not_true(key: str, *, chooses: bool, seed: int) -> None:
    world = world_of(key, seed)

    assert fault_of(key, world, planned(key, world, chooses=chooses)) == ""


def test_drains_are_begun_in_several_orders() -> None:
    """Whoever always takes the fullest node empties three of the eight nodes of this cluster."""
    world = world_of("consolidateNodes", 33)

    assert planned("consolidateNodes", world).reached == best("consolidateNodes", world)
