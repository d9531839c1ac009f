"""In which order verified moves begin, which of them are rechecked together, and what comes of their rechecks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.rechecks import Rechecks
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.recheck import Rechecked
from descheduler.migration.roads.care import Care
from descheduler.migration.roads.departures import Arrival, Departures
from descheduler.migration.settings import DispatchSettings
from descheduler.model.pod import Owner
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.transport.errors import ExchangeError
from tests.migration.stand_ins import Clock, around, make_eviction

SETTINGS = DispatchSettings(qps=1.0, burst=2, fault_wait_seconds=1.0)
EVICTED, REFUSED = OutcomeKind.EVICTED, OutcomeKind.REFUSED


def task(name: str, *, wave: int = 1, bundle: int = 0, workload: str = "", dry: bool = False) -> EvictionTask:
    """A move of its own workload, unless one is named."""
    owner = Owner("ReplicaSet", workload, workload, controller=True) if workload else None
    return EvictionTask(replace(make_eviction(name, bundle=bundle, dry=dry), wave=wave, controller=owner))


class Run:
    """An order of these tasks. Rechecks find what they are told to; replacements serve once they have `arrived`."""

    def __init__(self, *tasks: EvictionTask, settings: DispatchSettings = SETTINGS) -> None:
        self.clock = Clock()
        self.finds: Rechecked | Exception = Rechecked()
        self.asked: list[tuple[list[str], set[str], set[str]]] = []
        """Names of the moves that were rechecked, and UIDs of what was under way and granted then."""
        self.arrived = Arrival.AWAITED
        there = replace(around(settings, self.clock), calls=self)
        self._calls: list[tuple[Callable[[], Any], Future[Any]]] = []
        departures = Departures(lambda eviction, asked_at: self._look, there)
        self.care = Care(departures, Rechecks(self._recheck, there), settings, there)
        self.order = self.care.order(tasks)

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`, which `make` makes."""
        future: Future[Any] = Future()
        self._calls.append((call, future))
        return future

    def make(self) -> None:
        """Makes all calls."""
        calls, self._calls = self._calls, []
        for call, future in calls:
            try:
                future.set_result(call())
            except ExchangeError as error:
                future.set_exception(error)

    def _recheck(
        self, tasks: Sequence[EvictionTask], under_way: Collection[str], granted: Collection[str]
    ) -> Rechecked:
        self.asked.append(([each.eviction.name for each in tasks], set(under_way), set(granted)))
        if isinstance(self.finds, Exception):
            raise self.finds
        return self.finds

    def _look(self, *, is_last: bool) -> Arrival:
        return self.arrived

    def begin(self) -> str:
        """The name of the next move, which begins once it was rechecked; "" while none may."""
        found = self.order.next()
        if found is None or not self._is_ready(found):
            return ""
        self.order.remove(found)
        self.order.began(found)
        return found.eviction.name

    def _is_ready(self, found: EvictionTask) -> bool:
        if self.order.is_ready(found):
            return True
        self.make()
        self.order.take_over()
        return self.order.is_ready(found)

    def rechecked(self, *finds: Rechecked | Exception) -> list[tuple[str, OutcomeCode, str]]:
        """Those that do not begin any more, after rechecks that find this, at once one after the other."""
        over = list[tuple[EvictionTask, Judgement]]()
        for self.finds in finds:
            first = self.order.next()
            assert first is not None
            self.order.is_ready(first)
            self.make()
            over += self.order.take_over()
        return [(each.eviction.name, ending.code, ending.message) for each, ending in over]

    @property
    def names(self) -> list[list[str]]:
        """The names of the moves of each recheck."""
        return [names for names, _, _ in self.asked]


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        pytest.param(SETTINGS, 7, id="what begins while the recheck is good"),
        pytest.param(replace(SETTINGS, qps=0.1), 2, id="the burst alone"),
        pytest.param(replace(SETTINGS, qps=100.0), 64, id="not more than one recheck bears"),
    ],
)
def test_so_many_moves_are_rechecked_together(settings: DispatchSettings, number: int) -> None:
    run = Run(*(task(f"{index:03}") for index in range(100)), settings=settings)

    assert run.begin() == "000"
    assert run.names == [[f"{index:03}" for index in range(number)]]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([task("b")], ["a", "b"], id="another one"),
        pytest.param([task("b", wave=2)], ["a"], id="one of the next wave"),
        pytest.param([task("b", dry=True), task("c")], ["a", "c"], id="one that is not sent"),
        pytest.param([task("b", workload="w"), task("c")], ["a", "c"], id="one of the same workload"),
        pytest.param([task("b", workload="x"), task("c", workload="x")], ["a", "b"], id="two of another workload"),
    ],
)
def test_moves_that_can_begin_with_the_first_are_rechecked_with_it(
    others: list[EvictionTask], expected: list[str]
) -> None:
    run = Run(task("a", workload="w"), *others)
    run.begin()

    assert run.names == [expected]


def test_bundle_is_rechecked_whole() -> None:
    gang = [task(name, bundle=1, workload="w") for name in "abc"]
    run = Run(*gang, task("d"), settings=replace(SETTINGS, qps=0.1, burst=1))
    run.begin()

    assert run.names == [["a", "b", "c"]]


def test_moves_that_are_under_way_are_told_to_a_recheck() -> None:
    first, second, third = task("a", workload="w"), task("b"), task("c", workload="w")
    run = Run(first, second, third)
    run.begin()
    run.clock.sleep(6.0)
    run.begin()
    run.order.ended(first, EVICTED)
    run.clock.sleep(6.0)
    run.order.next()
    run.arrived = Arrival.SERVING
    run.make()
    run.begin()

    assert run.asked == [(["a", "b"], set(), set()), (["b"], {"uid-a"}, set()), (["c"], {"uid-b"}, set())]


def test_pod_that_has_left_is_granted_until_its_replacement_serves() -> None:
    first = task("a")
    run = Run(first, task("b"))
    run.begin()
    run.order.ended(first, EVICTED)
    run.clock.sleep(6.0)
    run.begin()

    assert run.asked[1:] == [(["b"], {"uid-a"}, {"uid-a"})]


def test_wave_waits_for_the_replacements_of_the_one_before() -> None:
    first, later = task("a"), task("b", wave=2)
    run = Run(first, later)
    begun = [run.begin(), run.begin()]
    run.order.ended(first, EVICTED)
    begun.append(run.begin())
    run.arrived = Arrival.SERVING
    run.make()
    begun.append(run.begin())

    assert begun == ["a", "", "", "b"]
    assert not run.order


def test_wave_begins_at_once_where_the_pods_of_the_one_before_stay() -> None:
    first, later = task("a"), task("b", wave=2)
    run = Run(first, later)
    run.begin()
    run.order.ended(first, REFUSED)

    assert run.begin() == "b"


def test_refusal_has_all_rechecked_that_counted_on_it() -> None:
    first, second = task("a"), task("b")
    refused, evicted = Run(first, second), Run(first, second)
    for run, kind in ((refused, REFUSED), (evicted, EVICTED)):
        run.begin()
        run.order.ended(first, kind)
        run.begin()

    assert (refused.names, evicted.names) == ([["a", "b"], ["b"]], [["a", "b"]])


def test_next_round_waits_for_the_pods_of_the_last() -> None:
    first = task("a", workload="w")
    run = Run(first)
    run.begin()
    run.order.ended(first, EVICTED)

    run.order = run.care.order([task("b", workload="w"), task("c")])

    assert [run.begin(), run.begin()] == ["c", ""]


def test_move_that_does_not_hold_any_more_stays() -> None:
    run = Run(task("a"), task("b"))

    over = run.rechecked(Rechecked({"uid-a": "its node is full"}))

    assert over == [("a", OutcomeCode.CHANGED, "its node is full")]
    assert (run.begin(), bool(run.order)) == ("b", False)


def test_bundle_of_which_one_has_begun_goes_whatever_has_changed() -> None:
    gang = [task(name, bundle=1, workload="w") for name in "ab"]
    run = Run(*gang)
    run.begin()
    run.order.ended(gang[0], REFUSED)

    assert run.begin() == "b"
    assert len(run.asked) == 1


def test_move_that_waits_for_the_room_of_another_is_rechecked_when_that_has_an_answer() -> None:
    first, waits = task("a"), task("b", wave=1)
    run = Run(first, waits)
    run.finds = Rechecked(waiting=frozenset({"uid-b"}))
    assert [run.begin(), run.begin(), run.begin()] == ["a", "", ""]

    run.finds = Rechecked()
    run.order.ended(first, EVICTED)

    assert run.begin() == "b"
    assert run.names == [["a", "b"], ["b"]]


LOST = ExchangeError("lost")


def test_recheck_that_fails_is_repeated_ever_more_rarely() -> None:
    run = Run(task("a"))
    at = []
    for _ in range(100):
        before = len(run.asked)
        over = run.rechecked(LOST)
        at += [run.clock.now()] * (len(run.asked) - before)
        if over:
            break
        run.clock.sleep(0.5)

    assert at == [0.0, 1.0, 3.0, 7.0, 15.0]
    assert over == [("a", OutcomeCode.SERVER_ERROR, "not checked again before the eviction: lost")]


def test_after_rechecks_that_failed_the_next_ones_are_not_tried_as_often() -> None:
    run = Run(*(task(name) for name in "abc"), settings=replace(SETTINGS, qps=0.1, burst=1))
    for seconds in (0.0, 1.0, 2.0, 4.0, 8.0):
        run.clock.sleep(seconds)
        over = run.rechecked(LOST)

    assert [name for name, _, _ in over] == ["a"]
    assert [name for name, _, _ in run.rechecked(LOST)] == ["b"]
    assert run.rechecked(Rechecked()) == []
    assert run.begin() == "c"


def test_errors_count_in_a_row() -> None:
    run = Run(task("a"), task("b"))
    for seconds, found in ((0.0, LOST), (1.0, LOST), (2.0, LOST), (4.0, LOST), (8.0, Rechecked())):
        run.clock.sleep(seconds)
        assert run.rechecked(found) == []
    run.clock.sleep(10.0)

    assert run.rechecked(LOST) == []


def test_clear_leaves_nothing() -> None:
    run = Run(task("b", wave=2), task("a"))

    assert [each.eviction.name for each in run.order.clear()] == ["a", "b"]
    assert (bool(run.order), run.order.next()) == (False, None)


def test_rechecks_and_looks_are_awaited() -> None:
    first, later = task("a"), task("b", wave=2)
    run = Run(first, later)
    run.begin()
    run.order.ended(first, EVICTED)
    assert len(run.order.awaited) == 0

    run.order.next()
    assert len(run.order.awaited) == 1
    run.arrived = Arrival.SERVING
    run.make()
    found = run.order.next()
    assert found is not None
    run.order.is_ready(found)
    assert len(run.order.awaited) == 1


def test_move_after_a_replacement_without_a_node_stays_unless_its_bundle_has_begun() -> None:
    first, alone = task("a"), task("b", wave=2)
    gang = [task("c", bundle=1, workload="w"), task("d", wave=2, bundle=1, workload="w")]
    run = Run(first, gang[0], alone, gang[1])
    run.begin()
    run.begin()
    run.order.ended(first, EVICTED)
    for _ in range(100):
        run.order.next()
        run.make()
        run.clock.sleep(3.0)

    assert run.order.why_stays(alone) == "the replacement of pod shop/a was not scheduled within 120 s"
    assert run.order.why_stays(gang[1]) == ""


def test_replacements_are_looked_at_only_while_something_waits_for_them() -> None:
    first, second = task("a"), task("b")
    run = Run(first, second)
    run.begin()
    run.order.ended(first, EVICTED)
    assert run.order.next() is second  # which waits for nobody
    assert len(run.order.awaited) == 0

    run.begin()
    run.order.ended(second, EVICTED)
    assert run.order.next() is None
    assert len(run.order.awaited) == 0
