"""What several searches of one problem are told, round by round."""

from __future__ import annotations

from multiprocessing.connection import Connection, Pipe
from threading import Thread
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, make_problem, workers
from descheduler.optimizer.search import Incumbent, SearchTask


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
        incumbent = Incumbent(task.problem.assignment, (1, 0), 0.0, 0.0)
        while (told := pipe.recv()) is not None:
            if is_first:
                self.told.append(told.limits)
            pipe.send(workers._Report(incumbent, told.limits.work))

    def of_search(self, limits: Limits) -> list[Limits]:
        """Those of one search."""
        self.told, self._threads = [], []
        problem = make_problem(need=[[5], [4]], capacity=[[9], [9]], assignment=[0, 0])
        task = SearchTask(problem, BalanceUtilization(np.array([[7], [7]])), limits, seed=0)
        never: Any = lambda *_: False  # noqa: E731
        workers.search_in_processes(task, num_workers=2, is_cancelled=never, on_incumbent=never)
        return self.told


def test_rounds_are_the_same_in_a_search_with_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = _Rounds(monkeypatch)

    short, long = rounds.of_search(Limits(work=7.0)), rounds.of_search(Limits(work=60.0))

    assert [limits.work for limits in short] == [1.0, 2.0, 4.0]
    assert [limits.work for limits in long] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 5.0]
