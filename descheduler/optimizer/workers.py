"""Several searches of one problem in processes of their own, which exchange the best plan every few seconds."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget, Ending, Limits
from descheduler.optimizer.search import Incumbent, Search, SearchTask
from descheduler.process_end import bound_to_process

_FIRST_ROUND, _LONGEST_ROUND = 1.0, 10.0
"""What a round takes, of work where that is limited and else in seconds: each twice as much as the one before it.

They are the same in a search with more time, which is never worse then.
"""
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class _Round:
    """What a worker is told: go on from there within these limits."""

    limits: Limits
    best: Ints | None


@dataclass(frozen=True, slots=True, eq=False)
class _Report:
    """What a worker answers at the end of a round. `work` is what it spent in the round."""

    incumbent: Incumbent
    work: float


def search_in_processes(
    task: SearchTask,
    *,
    num_workers: int,
    is_cancelled: Callable[[], bool],
    on_incumbent: Callable[[Incumbent], None],
) -> tuple[Incumbent, float, Ending]:
    """The best incumbent of `num_workers` searches with seeds from the task's on, the work of the busiest, and the end.

    Rounds end by work where only work is limited, so that what is exchanged does not depend on the machine's speed.
    """
    budget = Budget(task.limits, is_cancelled)
    incumbents: list[Incumbent] = []
    with _started(task, num_workers) as pipes:
        rounds = 0
        while not (budget.is_over and rounds):
            for pipe in pipes:
                pipe.send(
                    _Round(_round_limits(rounds, task.limits, budget), incumbents[0].assignment if rounds else None)
                )
            reports = [_receive(pipe, pipes, budget, on_incumbent) for pipe in pipes]
            budget.spend(max(report.work for report in reports))
            rounds += 1
            incumbents = [*incumbents[:1], *(report.incumbent for report in reports)]
            incumbents.sort(key=lambda incumbent: incumbent.value)
            if all(report.work == 0.0 for report in reports):
                break
        _end(pipes)
    return incumbents[0], budget.spent, budget.ending


def _round_limits(number: int, limits: Limits, budget: Budget) -> Limits:
    """The limits of the round with that number, the first is 0."""
    length = min(_FIRST_ROUND * 2**number, _LONGEST_ROUND)
    seconds = None if limits.seconds is None else max(budget.seconds_left, 0.0)
    if limits.work is not None:
        return Limits(seconds, max(min(length, limits.work - budget.spent), 0.0))
    return Limits(length if seconds is None else min(length, seconds))


def _receive(
    pipe: Connection, pipes: list[Connection], budget: Budget, on_incumbent: Callable[[Incumbent], None]
) -> _Report:
    """The worker's report; incumbents on the way are passed on. A search that is cancelled is told to all workers."""
    while True:
        while not wait([pipe], timeout=_POLL_SECONDS):
            if budget.is_cancelled:
                _end(pipes)
        message = pipe.recv()
        if isinstance(message, _Report):
            return message
        on_incumbent(message)


def _end(pipes: Iterable[Connection]) -> None:
    """Tells workers that there are no more rounds; those that were told before may be gone by now."""
    for pipe in pipes:
        with suppress(ConnectionError):
            pipe.send(None)


@contextmanager
def _started(task: SearchTask, num_workers: int) -> Iterator[list[Connection]]:
    """The pipes to that many workers, each of which has another seed; they are joined when the caller is done."""
    pipes: list[Connection] = []
    processes: list[subprocess.Popen[bytes]] = []
    with ExitStack() as bound:
        try:
            for _ in range(num_workers):
                process, pipe = bound.enter_context(bound_to_process(_start, lambda started: started[0].kill()))
                pipes.append(pipe)
                processes.append(process)
            for number, pipe in enumerate(pipes):
                pipe.send(dataclasses.replace(task, seed=task.seed + number))
            yield pipes
            for process in processes:
                process.wait()
        finally:
            for process in processes:
                if process.poll() is None:
                    process.terminate()
                    process.wait()


def _start() -> tuple[subprocess.Popen[bytes], Connection]:
    """A worker and the pipe to it.

    A process of `multiprocessing` would do but for its start: it reads what it is to do before any code of ours runs,
    and writes a traceback where the run is killed meanwhile.
    """
    ours, theirs = Pipe()
    with theirs, _deaf_to_interrupts():
        return subprocess.Popen(worker_command(theirs.fileno()), pass_fds=[theirs.fileno()]), ours  # noqa: S603 - Python itself


def worker_command(descriptor: int) -> list[str]:
    """The command of a worker whose end of the pipe has this file descriptor. It finds modules where this process
    does."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import work; work({descriptor})"
    return [sys.executable, "-P", "-c", code]


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that start in here never hear Ctrl-C, which goes to all of a terminal: the caller ends the search."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(descriptor: int) -> None:
    """A worker's life: its task, and rounds until it is told that there are no more.

    It ends without a word when the other end of the pipe is gone: whoever wanted the result is, too.
    """
    with suppress(EOFError, OSError):  # where the pipe ends within a message it is a plain OSError
        pipe = Connection(descriptor)
        _rounds(pipe, pipe.recv())


def _rounds(pipe: Connection, task: SearchTask) -> None:
    """Searches until it is told that there are no more rounds. Whatever it is told meanwhile ends a round."""
    search = Search(task, is_cancelled=pipe.poll, on_incumbent=pipe.send)
    has_started = False
    while (told := pipe.recv()) is not None:
        before = search.budget.spent
        budget = search.budget.part(told.limits, is_cancelled=pipe.poll)
        if not has_started:
            search.start()
            has_started = True
        if told.best is not None:
            search.adopt(told.best)
        search.improve(budget)
        pipe.send(_Report(search.incumbent, search.budget.spent - before))
