"""Evicted pods are followed until their replacements serve."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.roads.departures import Arrival, Departures, Unscheduled
from descheduler.model.pod import Owner
from descheduler.transport.errors import ExchangeError
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


class Looks:
    """What looks at pods, which finds these, the last of them for ever."""

    def __init__(self, *found: Arrival | ExchangeError) -> None:
        self._found = list(found)
        self.looked: list[tuple[float, bool]] = []
        """When, in seconds of the run's clock, and whether that was to be the last look."""
        self.clock = Clock()
        self.departures = Departures(lambda eviction, asked_at: self._look, around(FAST, self.clock))

    def _look(self, *, is_last: bool) -> Arrival:
        self.looked.append((self.clock.now(), is_last))
        found = self._found.pop(0) if len(self._found) > 1 else self._found[0]
        if isinstance(found, ExchangeError):
            raise found
        return found

    def until(self, seconds: float) -> list[EvictionTask]:
        """Those that are over at that time, with a look every quarter of a second."""
        over = list[EvictionTask]()
        while self.clock.now() < seconds:
            self.departures.look()
            over += self.departures.take_over()
            self.clock.sleep(0.25)
        return over


def test_replacement_is_looked_at_ever_more_rarely_and_given_up_after_two_minutes() -> None:
    looks, waiting = Looks(Arrival.AWAITED), EvictionTask(make_eviction("a"))
    looks.departures.began(waiting)

    assert looks.until(119.5) == []
    assert [at for at, _ in looks.looked[:6]] == [0.0, 0.5, 1.5, 3.5, 6.5, 9.5]
    assert looks.until(125.0) == [waiting]
    assert [is_last for _, is_last in looks.looked[-2:]] == [False, True]
    assert looks.departures.tasks == []


@pytest.mark.parametrize(("waited", "is_last"), [(119.75, False), (120.0, True)])
def test_look_two_minutes_after_the_eviction_is_the_last_one(waited: float, *, is_last: bool) -> None:
    looks = Looks(Arrival.AWAITED)
    looks.clock.seconds = 300.0
    looks.departures.began(EvictionTask(make_eviction("a")))
    looks.clock.seconds += waited

    looks.departures.look()

    assert looks.looked == [(300.0 + waited, is_last)]


@pytest.mark.parametrize(
    ("found", "is_unscheduled"),
    [
        pytest.param(Arrival.AWAITED, True, id="it has no node"),
        pytest.param(ExchangeError("no answer"), True, id="nobody knows"),
        pytest.param(Arrival.SCHEDULED, False, id="it has a node"),
    ],
)
def test_pods_after_one_without_a_node_do_not_begin(found: Arrival | ExchangeError, *, is_unscheduled: bool) -> None:
    looks, first = Looks(found), EvictionTask(replace(make_eviction("a"), wave=2))
    looks.departures.began(first)

    assert looks.until(130.0) == [first]
    whys = [
        looks.departures.unscheduled.why_stays(each)
        for each in (
            replace(make_eviction("later"), wave=3),
            replace(make_eviction("beside"), wave=2),
            replace(make_eviction("before"), wave=1),
        )
    ]
    assert [bool(why) for why in whys] == [is_unscheduled, False, False]
    assert whys[0] == ("the replacement of pod shop/a was not scheduled within 120 s" if is_unscheduled else "")


def test_pods_of_the_workload_of_one_without_a_node_do_not_begin() -> None:
    unscheduled = Unscheduled()
    of_web = Owner("ReplicaSet", "web", "w", controller=True)
    unscheduled.note(replace(make_eviction("a"), controller=of_web))

    assert "shop/a" in unscheduled.why_stays(replace(make_eviction("b"), controller=of_web))
    assert unscheduled.why_stays(replace(make_eviction("c"), controller=replace(of_web, uid="other"))) == ""


def test_replacement_that_serves_is_not_waited_for_any_more() -> None:
    looks, first = (
        Looks(Arrival.SCHEDULED, ExchangeError("no answer"), Arrival.SERVING),
        EvictionTask(make_eviction("a")),
    )
    looks.departures.began(first)

    assert looks.until(2.0) == [first]
    assert len(looks.looked) == 3
