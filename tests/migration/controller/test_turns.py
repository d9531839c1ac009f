"""Pods whose turn it is, while they are judged once more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import Any

from descheduler.migration.controller.task import JobTask
from descheduler.migration.controller.turns import Turns
from descheduler.migration.recheck.footprints import Asked, Judged
from descheduler.plan.planned import PlannedEviction
from tests.builders import make_pod


class AgainstAll:
    """Objects to every move."""

    def judge(self, wave: Sequence[Asked], under_way: Collection[str]) -> Judged:
        """A sentence each."""
        del under_way
        return Judged({asked.eviction.uid: "its node has changed" for asked in wave})


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
        for call, future in self._calls:
            future.set_result(call())


def task(name: str) -> JobTask:
    return JobTask(PlannedEviction("shop", name, f"uid-{name}", "n1", "p", "Plugin"))


def test_objection_counts_for_those_alone_whose_turn_it_still_is() -> None:
    turns, calls = Turns(AgainstAll()), Later()
    left_out, waits = task("left-out"), task("waits")
    for each in (left_out, waits):
        turns.add(each, make_pod(each.eviction.name), "Eviction")
    turns.judge(calls.submit, 0.0, lambda task: True, ())

    turns.remove(left_out)
    calls.make()
    over, error = turns.take_judgement(1.0)

    assert [turn.task for turn, _ in over] == [waits]
    assert error is None
    assert len(turns) == 0
