"""The laws of Reservations hold in random clusters."""

from __future__ import annotations

from collections import Counter

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.reservation.pod_protocol import ReservationRequest
from descheduler.placement.plugins.reservation.sights import Sight, Sights, StandIns
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.views import SeenPod, Views
from tests.placement.plugins.reservation import random_patches
from tests.placement.plugins.reservation.random_worlds import answers_by_the_way, check_batch, check_world
from tests.series import Part, parts

_NUM_WORLDS = 60
_NUM_BATCHES = 25
_NUM_READ_BACK = 40


@pytest.mark.long
def test_laws_hold_in_random_worlds() -> None:
    for seed in range(_NUM_WORLDS):
        check_world(seed)


@pytest.mark.long
def test_joint_verdicts_agree_with_all_orders_and_assignments() -> None:
    verdicts = Counter(check_batch(seed) for seed in range(_NUM_BATCHES))

    assert {LandingVerdict.LANDS, LandingVerdict.NO} <= verdicts.keys()


@pytest.mark.long
@pytest.mark.parametrize("part", parts(3))
def test_answers_are_those_of_a_cluster_that_keeps_nothing_from_cycle_to_cycle(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = part.of(range(_NUM_WORLDS))
    kept = [answers_by_the_way(seed) for seed in seeds]
    close, keep_up, sight_of = Views.close, StandIns.keep_up, Sights.of

    def close_for_good(views: Views, before: tuple[SeenPod, ...]) -> None:
        close(views, before)
        views.settle()

    def look_anew(stand_ins: StandIns) -> int:
        stand_ins.__init__(stand_ins._holdings)  # type: ignore[misc]
        return keep_up(stand_ins)

    def match_anew(sights: Sights, pod: PlacementClass, request: ReservationRequest) -> Sight:
        sights._kept.clear()
        return sight_of(sights, pod, request)

    monkeypatch.setattr(Views, "close", close_for_good)
    monkeypatch.setattr(StandIns, "keep_up", look_anew)
    monkeypatch.setattr(Sights, "of", match_anew)

    for seed, answers in zip(seeds, kept, strict=True):
        assert answers_by_the_way(seed) == answers, seed


@pytest.mark.long
def test_cluster_that_is_read_again_is_the_one_that_pods_were_placed_on() -> None:
    assert sum(random_patches.check_world(seed) for seed in range(_NUM_READ_BACK)) > _NUM_READ_BACK
