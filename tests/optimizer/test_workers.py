"""What several searches of one problem are told, round by round, and what becomes of what they find."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from threading import Thread
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, make_problem, workers
from descheduler.optimizer.search import Incumbent, Search, SearchTask


def _task(limits: Limits, threshold: int = 7) -> SearchTask:
    """One of two pods is to leave a node that is too full."""
    problem = make_problem(need=[[5], [4]], capacity=[[9], [9]], assignment=[0, 0])
    return SearchTask(problem, BalanceUtilization(np.full((2, 1), threshold)), limits, seed=0)


class _Rounds:
    """Workers that find nothing and take all the work that a round has. `told` are the limits of the first one's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[Limits] = []
        self._threads: list[Thread] = []
        monkeypatch.setattr(workers, "_start", self._start)

    def _start(self) -> tuple[Mock, Connection]:
        ours, theirs = Pipe()
        thread = Thread(target=self._answer, args=(theirs, not self._threads), daemon=True)
        self._threads.append(thread)
        thread.start()
        return Mock(poll=Mock(return_value=0)), ours

    def _answer(self, pipe: Connection, is_first: bool) -> None:
        task = pipe.recv()
        incumbent = Incumbent(task.problem.assignment, task.problem.assignment, (1, 0), 0.0, 0.0)
        while (told := pipe.recv()) is not None:
            if is_first:
                self.told.append(told.limits)
            pipe.send(workers._Report(incumbent, told.limits.work or 0.0))

    def of_search(self, limits: Limits) -> list[Limits]:
        """Those of one search."""
        self.told, self._threads = [], []
        never: Any = lambda *_: False  # noqa: E731
        workers.search_in_processes(_task(limits), num_workers=2, is_cancelled=never, on_incumbent=never)
        return self.told


def test_rounds_are_the_same_in_a_search_with_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = _Rounds(monkeypatch)

    short, long = rounds.of_search(Limits(work=7.0)), rounds.of_search(Limits(work=60.0))

    assert [limits.work for limits in short] == [1.0, 2.0, 4.0]
    assert [limits.work for limits in long] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 5.0]


@pytest.mark.parametrize("work", [None, 3.0])
def test_a_round_has_no_more_time_than_is_left(monkeypatch: pytest.MonkeyPatch, work: float | None) -> None:
    told = _Rounds(monkeypatch).of_search(Limits(0.5, work))[0]

    assert told.seconds is not None
    assert 0 <= told.seconds <= 0.5
    assert told.work == (work and 1.0)


def _work(descriptor: int) -> None:
    """A worker that closes its end of the pipe however it ends, as a process does."""
    with suppress(Exception):
        workers.work(descriptor)


class _Threads:
    """Workers in threads of this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[Thread] = []
        monkeypatch.setattr(workers, "_start", self._start)

    def _start(self) -> tuple[Mock, Connection]:
        ours, theirs = Pipe()
        with theirs:
            thread = Thread(target=_work, args=(os.dup(theirs.fileno()),), daemon=True)
        self.started.append(thread)
        thread.start()
        return Mock(poll=Mock(return_value=0), wait=thread.join), ours


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Threads]:
    """Such workers, which have ended when the test is over."""
    threads = _Threads(monkeypatch)
    yield threads
    assert threads.started
    assert not any(thread.is_alive() for thread in threads.started)


def test_searches_end_when_none_can_find_more(threads: _Threads) -> None:
    """Here one has done all that it can after its first round, with the work that it takes without others, too."""
    task = _task(Limits(work=1000.0), threshold=4)
    alone = Search(task, is_cancelled=lambda: False, on_incumbent=lambda _: None)
    alone.start()
    alone.improve(alone.budget)

    found, spent, ending = workers.search_in_processes(
        task, num_workers=2, is_cancelled=lambda: False, on_incumbent=lambda _: None
    )

    assert (found.value, spent, ending) == (alone.incumbent.value, alone.budget.spent, "")
    assert spent > 0


def test_a_search_that_is_cancelled_has_the_best_plan_until_then(threads: _Threads) -> None:
    passed_on = list[Incumbent]()

    found, _, ending = workers.search_in_processes(
        _task(Limits(work=1000.0)), num_workers=2, is_cancelled=lambda: bool(passed_on), on_incumbent=passed_on.append
    )

    assert ending == "cancelled"
    assert found.value == passed_on[0].value == (0, 1)
    assert sorted(found.assignment.tolist()) == [0, 1]
