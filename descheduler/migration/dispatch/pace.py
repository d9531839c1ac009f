"""The pace of evictions: that of the run and of profiles, and for how long a run bears with a server that is busy."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.kube.retry import TokenBucket
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode


class Paces:
    """The token buckets of one run, and its `patience`; `now` is a monotonic clock in seconds."""

    def __init__(self, settings: DispatchSettings, *, now: Callable[[], float]) -> None:
        self.patience = ServerPatience(settings, now)
        self._shared = TokenBucket(settings.qps, settings.burst, now=now)
        self._own = {
            profile: TokenBucket(terms.pace.qps, terms.pace.burst, now=now)
            for profile, terms in settings.terms.items()
            if terms.pace is not None
        }

    def try_take(self, profile: str) -> float:
        """0 when a call for an eviction of `profile` may start now, else the seconds until it may be asked again."""
        return self._own.get(profile, self._shared).try_take()


class CallWindow:
    """Additive increase, multiplicative decrease: Jacobson, "Congestion avoidance and control", 1988.

    The API server's priority and fairness serves so many calls at once and turns the rest away with one Retry-After
    for all: whoever comes back at that instant with as many calls is turned away again. So the window is halved, and
    stays shut until the time that was told. A volley in vain costs seconds where a served call takes milliseconds, so
    the window widens slowly: by one after `largest` served calls in a row. `largest` is the number of calls under way
    that it starts with and never exceeds, `now` a monotonic clock in seconds.
    """

    def __init__(self, largest: int, now: Callable[[], float]) -> None:
        self._largest = largest
        self._now = now
        self._size = largest
        self._num_served = 0
        self._shut_until = 0.0

    def has_room(self, num_in_flight: int) -> bool:
        """Whether one more call may join those under way."""
        return num_in_flight < self._size

    @property
    def shut_seconds(self) -> float:
        """For how long no call may start, 0 or less when one may."""
        return self._shut_until - self._now()

    def turned_away(self, retry_after_seconds: float) -> None:
        """A call was not even looked at. Calls of one volley count as one sign, so the window is halved once."""
        if self.shut_seconds <= 0:
            self._size = max(1, self._size // 2)
        self._num_served = 0
        self._shut_until = max(self._shut_until, self._now() + retry_after_seconds)

    def served(self) -> None:
        """A call got an answer of its own."""
        self._num_served += 1
        if self._num_served == self._largest:
            self._size = min(self._largest, self._size + 1)
            self._num_served = 0


class ServerPatience:
    """Notes what the API server makes of calls, and says when one may start or be made again.

    `window` bounds the calls under way at once. A server that was overloaded for too long has it `is_exhausted`.
    """

    def __init__(self, settings: DispatchSettings, now: Callable[[], float]) -> None:
        self.window = CallWindow(settings.max_in_flight, now)
        self.is_exhausted = False
        self._settings = settings
        self._now = now
        self._cut_off_since: float | None = None

    def note(self, judgement: Judgement) -> None:
        """Since when no call gets through to the server, and how many at once it can bear, after one more answer."""
        if judgement.code is OutcomeCode.OVERLOADED:
            self.window.turned_away(judgement.retry_after_seconds or 0.0)
        if not judgement.code.is_unserved:
            self.window.served()
            self._cut_off_since = None
        elif self._cut_off_since is None:
            self._cut_off_since = self._now()
        if judgement.code is OutcomeCode.OVERLOADED and self._waits_until(judgement, self._now()) is None:
            self.is_exhausted = True

    def again_at(self, task: EvictionTask) -> float | None:
        """When the pod may be asked for again, None when it may not."""
        settings, judgement = self._settings, task.judgement
        if judgement is None or (at := self._waits_until(judgement, task.answered_at)) is None:
            return None
        if judgement.code.is_fault:
            return at if task.num_faults <= settings.max_fault_retries else None
        return at if self._cut_off_since is not None or task.num_waits <= settings.max_retries else None

    def _waits_until(self, judgement: Judgement, answered_at: float) -> float | None:
        """Until when an answer asks to wait, None for longer than the run can."""
        settings, wait_seconds = self._settings, judgement.retry_after_seconds
        if wait_seconds is None or wait_seconds > settings.longest_wait_seconds:
            return None
        at = answered_at + wait_seconds
        if settings.deadline is not None and at >= settings.deadline:
            return None
        is_cut_off = self._cut_off_since is not None and not judgement.code.is_fault
        outage_ends_at = (self._cut_off_since or 0.0) + settings.longest_outage_seconds
        return None if is_cut_off and at > outage_ends_at else at
