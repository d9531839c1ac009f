"""Many schedules, several at a time."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from tests.certificates import make_certificate
from tests.faults.history import History
from tests.faults.observer import BrokenPromise, judge
from tests.faults.play import play
from tests.faults.processes import Zygote
from tests.faults.schedule import Schedule, draw_schedule
from tests.faults.stalls import Stalls

_MOST_STARTS = 2
"""Runs that may be on their way to evictions at once; more of them would only meet each other's deadlines."""


@dataclass(frozen=True, slots=True)
class Played:
    """A schedule, what happened, and what of it was against a promise."""

    schedule: Schedule
    history: History
    broken: list[BrokenPromise]


class Campaign:
    """Plays schedules with one program loaded; a context manager."""

    def __init__(self) -> None:
        self._exit = ExitStack()
        self._bombs = threading.Lock()
        self._stalls = Stalls()
        self._starts = threading.Semaphore(_MOST_STARTS)

    def __enter__(self) -> Campaign:
        self._folder = Path(self._exit.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        self._certificate = make_certificate(self._folder)
        self._zygote = self._exit.enter_context(Zygote())
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def play(self, seed: int) -> Played:
        """The schedule of a seed, from start to end."""
        return self.play_schedule(draw_schedule(seed))

    def play_schedule(self, schedule: Schedule) -> Played:
        """One schedule, from start to end. Those with huge answers wait for one another."""
        guard: AbstractContextManager[object] = self._bombs if schedule.has_bomb else nullcontext()
        folder = Path(tempfile.mkdtemp(prefix=f"{schedule.seed}-", dir=self._folder))
        with guard:
            history = play(
                schedule,
                self._zygote,
                folder,
                certificate=self._certificate,
                stalls=self._stalls,
                starts=self._starts,
            )
        shutil.rmtree(folder)
        return Played(schedule, history, judge(history))

    def play_all(self, seeds: Iterable[int], *, num_jobs: int) -> Iterator[Played]:
        """The schedules of all seeds, `num_jobs` at a time, as they end."""
        yield from self.play_schedules(map(draw_schedule, seeds), num_jobs=num_jobs)

    def play_schedules(self, schedules: Iterable[Schedule], *, num_jobs: int) -> Iterator[Played]:
        """All of them, `num_jobs` at a time, as they end."""
        with ThreadPoolExecutor(num_jobs) as pool:
            waiting = {pool.submit(self.play_schedule, schedule) for schedule in schedules}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
