"""The laws of Reservations hold in random clusters."""

from __future__ import annotations

from collections import Counter

from descheduler.placement.landings.landing import LandingVerdict
from tests.placement.plugins.reservation import random_patches
from tests.placement.plugins.reservation.random_worlds import check_batch, check_world

_NUM_WORLDS = 60
_NUM_BATCHES = 25
_NUM_READ_BACK = 40


def test_laws_hold_in_random_worlds() -> None:
    for seed in range(_NUM_WORLDS):
        check_world(seed)


def test_joint_verdicts_agree_with_all_orders_and_assignments() -> None:
    verdicts = Counter(check_batch(seed) for seed in range(_NUM_BATCHES))

    assert {LandingVerdict.LANDS, LandingVerdict.NO} <= verdicts.keys()


def test_cluster_that_is_read_again_is_the_one_that_pods_were_placed_on() -> None:
    assert sum(random_patches.check_world(seed) for seed in range(_NUM_READ_BACK)) > _NUM_READ_BACK
