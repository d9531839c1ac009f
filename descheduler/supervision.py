"""Work that a run gives up when its time is over, whatever that work hangs in.

Nothing can end a thread from outside: one that waits for a silent server or a credential plugin, or that is deep in a
long decision, would keep the run alive for as long as it likes. So such work runs on a daemon thread, and the main
thread waits for it in small slices. When the time is over, by a signal, the deadline or the loss of the Lease, the main
thread goes on without it, gives the Lease back and ends the run. Work without effects on the cluster alone is run so:
what became of the rest is unknown.
"""

from __future__ import annotations

import contextvars
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Generic, TypeVar

T = TypeVar("T")

_SLICE_SECONDS = 0.05
"""How long the main thread may be deaf to the end of the run's time."""

_AFTER_DEADLINE_SECONDS = 4.5
"""What there is after the deadline for giving the Lease back, the report and the metrics: the process is gone within
five seconds, and the calls in flight may have had three of them."""

_AFTER_STOP_SECONDS = 6.0
"""The same after a signal, from when it is noticed: well within the 30 seconds that Kubernetes gives."""

_ENDS_SEARCH: Mapping[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
_LEAST_SECONDS = 0.25
_UNDO_SECONDS = 1.5


def sleep_unless(stop: threading.Event) -> Callable[[float], None]:
    """A sleep in seconds that ends early once `stop` is set.

    It looks at the flag instead of waiting for it: a signal handler that sets the flag while its own thread waits
    inside `Event.wait` can deadlock on the event's lock.
    """

    def sleep(seconds: float) -> None:
        until = time.monotonic() + seconds
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_SECONDS))

    return sleep


class RunStopped(Exception):  # noqa: N818 - an answer callers act on, named after what it says
    """The run's time was over before the work was done.

    `signal_number` is that of the signal, None when it was the deadline or the loss of the Lease.
    """

    def __init__(self, message: str, signal_number: int | None = None) -> None:
        super().__init__(message)
        self.signal_number = signal_number


class Watch:
    """The time that one run has, and the work that is bound to it. For the main thread, but where it says otherwise.

    Times are seconds of `clock`, which is monotonic; `now` is the time of day, aware. The time is over when `stop` is
    set or, with a deadline, so many seconds after `started` (by default now). `promise` is what a stopped run can say
    of its effects. `sleep` passes seconds, by default those of the machine until `stop` is set.
    """

    def __init__(
        self,
        stop: threading.Event | None = None,
        *,
        started: float | None = None,
        deadline_seconds: float | None = None,
        promise: str = "",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.stop = threading.Event() if stop is None else stop
        self.clock = clock
        self.now = now
        self.sleep = sleep or sleep_unless(self.stop)
        self.signal_number: int | None = None
        """The signal that set `stop`; None when it was something else."""
        self.promise = promise
        self.has_given_up = False
        """Whether some work was left behind that may still be running."""
        self.has_effects = False
        """Whether a call was made that changes the cluster, so that the run must not be repeated as if it had not."""
        self.find_loss: Callable[[], str] = lambda: ""
        """Why the Lease is lost, "" while it is not."""
        self.find_open: Callable[[], Sequence[str]] = lambda: ()
        """The pods, as `namespace/name`, whose eviction was asked for and may or may not take effect."""
        self.may_end_search = False
        """Whether a search is under way that the first Ctrl-C or SIGTERM ends alone."""
        self.is_search_over = False
        """Whether it did."""
        self.search_ended_by = ""
        """Which of these it was, as reports call it."""
        self.exit_code: int | None = None
        """How the program ends, once that is certain: no signal changes it any more."""
        self.deadline_text = ""
        """The deadline as it was typed; "" where none was typed."""
        self._started = clock() if started is None else started
        self._deadline_seconds = deadline_seconds
        self._doing = "starting"
        self._stopped_at: float | None = None
        self._is_waiting = False
        self._is_interrupted = False

    @property
    def deadline(self) -> float | None:
        """When the time is over; None for never."""
        return None if self._deadline_seconds is None else self._started + self._deadline_seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over. Safe from any thread."""
        return self.stop.is_set() or (self.deadline is not None and self.clock() >= self.deadline)

    @property
    def cause(self) -> str:
        """What ended the time, to be read after "stopped by"."""
        number = self.signal_number
        if number is not None:
            return "SIGINT (Ctrl-C)" if number == signal.SIGINT else signal.Signals(number).name
        if self.stop.is_set():
            return f"the loss of its Lease ({loss})" if (loss := self.find_loss()) else "request"
        return f"--deadline {self.deadline_text or f'{self._deadline_seconds:g}s'}"

    def request_stop(self, signal_number: int) -> None:
        """Sets `stop` in the name of a signal. For its handler."""
        self.signal_number = signal_number
        self.stop.set()

    def ends_search(self, signal_number: int) -> bool:
        """Whether a signal ends no more than a search that may be ended, which it does. For its handler."""
        if signal_number not in _ENDS_SEARCH or not self.may_end_search or self.is_search_over:
            return False
        self.is_search_over = True
        self.search_ended_by = _ENDS_SEARCH[signal_number]
        return True

    def interrupt(self) -> bool:
        """Has KeyboardInterrupt raised where the main thread waits for work; False where it does not. For a handler.

        Raised by a handler itself, it could turn up anywhere, and be lost in the middle of another thread's start.
        """
        self._is_interrupted = self._is_waiting
        return self._is_waiting

    def limit(self, deadline_seconds: float | None) -> None:
        """Sets the deadline, in seconds from the start; None for none."""
        self._deadline_seconds = deadline_seconds

    def tell(self, doing: str) -> None:
        """Takes note of what is done next ("reading pods"). Raises RunStopped when the time is over.

        Safe from any thread: this is how work that was given up ends at its next step, if it comes to one.
        """
        self.check()
        self._doing = doing

    def check(self) -> None:
        """Raises RunStopped when the time is over. Safe from any thread."""
        if self.is_over:
            raise self._stopped()

    def call(
        self,
        doing: str,
        work: Callable[[], T],
        *,
        undo: Callable[[T], None] | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> T:
        """What `work` returns or raises. Raises RunStopped without waiting for it when the time is over first.

        What it may still come to after that is handed to `undo`, on its own thread; that is waited for shortly.
        `meanwhile` is done on this thread, which is deaf to the end of the time as long: a matter of loading modules.
        """
        self._doing = doing
        self.check()
        job = _Job(work, undo)
        if not self._is_ended_before(job, lambda: self.is_over, meanwhile) and job.abandon():
            if undo is not None:
                job.ended.wait(self.patience_seconds(_UNDO_SECONDS))
            self.has_given_up |= not job.ended.is_set()
            raise self._stopped()
        return job.outcome()

    def finish(self, doing: str, work: Callable[[], T], *, most_seconds: float = math.inf) -> T:
        """What `work`, a step of the run's end, returns or raises; it may take a while longer when the time is over.

        Raises RunStopped when that is over too, TimeoutError after `most_seconds`.
        """
        self._doing = doing
        began = self.clock()
        job = _Job(work, None)
        if not self._is_ended_before(job, lambda: self.clock() >= min(began + most_seconds, self._give_up_at(began))):
            self.has_given_up = True
            raise self._stopped() if self.is_over else TimeoutError(f"not done within {most_seconds:g} s")
        return job.outcome()

    def wait_until(self, is_done: Callable[[], bool], most_seconds: float) -> None:
        """Waits for a step of the run's end that others make, for `most_seconds` at most, less when time is over."""
        began = self.clock()
        while not is_done() and self.clock() < min(began + most_seconds, self._give_up_at(began)):
            time.sleep(_SLICE_SECONDS)

    def patience_seconds(self, most_seconds: float) -> float:
        """How long a step of the run's end that begins now may take: `most_seconds`, less when time is over."""
        now = self.clock()
        return min(most_seconds, self._give_up_at(now) - now)

    def _is_ended_before(
        self, job: _Job[T], is_enough: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None
    ) -> bool:
        """Whether the job ended before `is_enough`; looks at both in turns, after `meanwhile`."""
        self._is_waiting = True
        try:
            job.start()
            meanwhile()
            while not (is_ended := job.ended.wait(_SLICE_SECONDS)) and not self._is_interrupted and not is_enough():
                continue
        except BaseException:  # a second signal: the job is left behind as well
            self.has_given_up = True
            raise
        finally:
            self._is_waiting = False
        if self._is_interrupted:
            self._is_interrupted = False
            self.has_given_up |= not is_ended
            raise KeyboardInterrupt
        return is_ended

    def _give_up_at(self, began: float) -> float:
        """When a step of the end is given up: it gets half of what is left, so that later steps have something too."""
        limits = []
        for over_at, closing_seconds in self._ends():
            counts_from = max(began, over_at)
            half_seconds = (over_at + closing_seconds - counts_from) / 2
            limits.append(counts_from + max(_LEAST_SECONDS, half_seconds))
        return min(limits, default=math.inf)

    def _ends(self) -> Iterator[tuple[float, float]]:
        if self.deadline is not None:
            yield self.deadline, _AFTER_DEADLINE_SECONDS
        if self.stop.is_set():
            if self._stopped_at is None:
                self._stopped_at = self.clock()
            yield self._stopped_at, _AFTER_STOP_SECONDS

    def _stopped(self) -> RunStopped:
        promise = f"; {self.promise}" if self.promise else ""
        return RunStopped(f"stopped by {self.cause} while {self._doing}{promise}", self.signal_number)


class _Job(Generic[T]):
    """Work on a daemon thread of its own, whose outcome is taken by exactly one: the main thread or `undo`."""

    def __init__(self, work: Callable[[], T], undo: Callable[[T], None] | None) -> None:
        self.ended = threading.Event()
        self._work = work
        self._undo = undo
        self._lock = threading.Lock()
        self._is_settled = False
        self._results: list[T] = []
        self._error: BaseException | None = None

    def start(self) -> None:
        """Begins; spans that are open in the calling thread are open in the new one."""
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name="supervised", daemon=True).start()

    def abandon(self) -> bool:
        """Gives the work up; False when its outcome is there already."""
        return self._settle()

    def outcome(self) -> T:
        """What the work returned; raises what it raised."""
        self.ended.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # handed to whoever asks for the outcome
            self._error = error
        if not self._settle() and self._undo is not None and self._results:
            with suppress(Exception):  # nobody is left to hear of it
                self._undo(self._results[0])
        self.ended.set()

    def _settle(self) -> bool:
        """Whether the caller is the first of the two."""
        with self._lock:
            is_first = not self._is_settled
            self._is_settled = True
        return is_first
