"""Joint verdicts against brute force over all orders and nodes. `JOINT_INSTANCES=2000` compares as many instances."""

from __future__ import annotations

import os

import pytest

from tests.placement.batches.brute_force import compare

pytestmark = pytest.mark.long

_NUM_INSTANCES = int(os.environ.get("JOINT_INSTANCES", "150"))


def test_joint_verdicts_are_those_of_brute_force() -> None:
    comparisons = [compare(seed) for seed in range(_NUM_INSTANCES)]

    assert {each.seed: each.faults for each in comparisons if each.faults} == {}
