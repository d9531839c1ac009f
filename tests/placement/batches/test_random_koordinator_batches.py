"""Joint verdicts on batches with devices, quotas, gangs and Reservations, against brute force."""

from __future__ import annotations

import pytest

from tests.placement.batches.random_koordinator_batches import compare


@pytest.mark.parametrize("seed", range(40))
def test_joint_verdicts_are_those_of_brute_force(seed: int) -> None:
    _, faults = compare(seed)

    assert faults == []
