"""Moves that are judged once more right before they begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import Any

from msgspec.structs import replace

from descheduler.migration.dispatch.rechecks import Rechecks
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.recheck import Rechecked
from descheduler.transport.errors import ExchangeError
from tests.migration.stand_ins import FAST, Clock, around, make_eviction


class Later:
    """Makes the calls when it is told to."""

    def __init__(self) -> None:
        self._calls: list[tuple[Callable[[], Any], Future[Any]]] = []

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`, which is still to be made."""
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


class Recheck:
    """Rechecks whose judge finds what it is told to."""

    def __init__(self) -> None:
        self.clock, self.calls, self.finds = Clock(), Later(), Rechecked()
        self.moves = Rechecks(self._rechecked, replace(around(FAST, self.clock), calls=self.calls))

    def _rechecked(
        self, tasks: Sequence[EvictionTask], under_way: Collection[str], granted: Collection[str]
    ) -> Rechecked:
        del tasks, under_way, granted
        return self.finds


def task(name: str) -> EvictionTask:
    return EvictionTask(make_eviction(name))


def test_what_has_no_objection_is_good_for_a_while() -> None:
    recheck, good, changed = Recheck(), task("good"), task("changed")
    recheck.finds = Rechecked({changed.eviction.uid: "its node has changed"})
    recheck.moves.begin([good, changed], ())

    assert recheck.moves.take_over() is None
    recheck.calls.make()
    taken = recheck.moves.take_over()

    assert taken is not None
    assert list(taken.objections) == [(changed, "its node has changed")]
    assert (recheck.moves.is_good(good), recheck.moves.is_good(changed)) == (True, False)
    recheck.clock.sleep(5.1)
    assert not recheck.moves.is_good(good)


def test_a_judgement_that_is_outdated_says_nothing() -> None:
    recheck, moved = Recheck(), task("moved")
    recheck.moves.begin([moved], ())

    recheck.moves.forget()
    recheck.calls.make()

    assert recheck.moves.take_over() is None
    assert not recheck.moves.is_good(moved)
    assert not recheck.moves.is_busy


def test_what_waits_for_an_answer_is_judged_again_once_there_is_one() -> None:
    recheck, waits = Recheck(), task("waits")
    recheck.finds = Rechecked(waiting=frozenset({waits.eviction.uid}))
    recheck.moves.begin([waits], ())
    recheck.calls.make()
    recheck.moves.take_over()

    assert (recheck.moves.is_good(waits), recheck.moves.is_waiting(waits)) == (False, True)
    recheck.moves.wake()
    assert not recheck.moves.is_waiting(waits)


def test_nothing_waits_for_an_answer_that_came_while_it_was_judged() -> None:
    recheck, waits = Recheck(), task("waits")
    recheck.finds = Rechecked(waiting=frozenset({waits.eviction.uid}))
    recheck.moves.begin([waits], ())

    recheck.moves.wake()
    recheck.calls.make()
    recheck.moves.take_over()

    assert (recheck.moves.is_good(waits), recheck.moves.is_waiting(waits)) == (False, False)


def test_judgement_is_good_for_five_seconds_whatever_is_judged_since() -> None:
    recheck, first, second = Recheck(), task("first"), task("second")
    judged(recheck, first)
    recheck.clock.sleep(5.0)
    judged(recheck, second)

    assert (recheck.moves.is_good(first), recheck.moves.is_good(second)) == (True, True)
    recheck.clock.sleep(0.1)
    assert (recheck.moves.is_good(first), recheck.moves.is_good(second)) == (False, True)


def judged(recheck: Recheck, *tasks: EvictionTask) -> None:
    recheck.moves.begin(tasks, ())
    recheck.calls.make()
    assert recheck.moves.take_over() is not None


def test_recheck_is_awaited_until_it_has_come_and_busy_until_it_is_taken() -> None:
    recheck = Recheck()
    states = [(recheck.moves.is_busy, len(recheck.moves.awaited))]

    recheck.moves.begin([task("a")], ())
    states.append((recheck.moves.is_busy, len(recheck.moves.awaited)))
    recheck.calls.make()
    states.append((recheck.moves.is_busy, len(recheck.moves.awaited)))
    recheck.moves.take_over()
    states.append((recheck.moves.is_busy, len(recheck.moves.awaited)))

    assert states == [(False, 0), (True, 1), (True, 0), (False, 0)]
    assert recheck.moves.take_over() is None


def test_recheck_that_fails_says_why_and_nothing_of_the_moves() -> None:
    recheck, moved = Recheck(), task("moved")

    def fail(tasks: object, under_way: object, granted: object) -> Rechecked:
        raise ExchangeError("no answer came")

    moves = Rechecks[EvictionTask](fail, replace(around(FAST, recheck.clock), calls=recheck.calls))
    moves.begin([moved], ())
    recheck.calls.make()
    taken = moves.take_over()

    assert taken is not None
    assert (list(taken.asked), list(taken.objections), str(taken.error)) == ([moved], [], "no answer came")
    assert not moves.is_good(moved)


def test_what_is_forgotten_while_nothing_is_judged_leaves_the_next_judgement_valid() -> None:
    recheck, moved = Recheck(), task("moved")
    judged(recheck, moved)

    recheck.moves.forget()
    assert not recheck.moves.is_good(moved)
    judged(recheck, moved)

    assert recheck.moves.is_good(moved)
