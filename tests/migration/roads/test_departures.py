"""Evicted pods are followed until their replacements serve."""

from __future__ import annotations

from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.roads.departures import Arrival, Departures
from tests.migration.stand_ins import FAST, Clock, around, make_eviction


def test_replacement_may_be_unlisted_for_half_a_minute() -> None:
    clock = Clock()
    departures = Departures(lambda eviction, since: lambda *, is_last: Arrival.AWAITED, around(FAST, clock))
    departures.began(EvictionTask(make_eviction("old", uid="old")))
    clock.seconds = 25.0
    departures.began(EvictionTask(make_eviction("new", uid="new")))

    assert departures.lately == {"old", "new"}
    clock.seconds = 30.0
    assert departures.lately == {"old", "new"}
    clock.seconds = 31.0
    assert departures.lately == {"new"}
