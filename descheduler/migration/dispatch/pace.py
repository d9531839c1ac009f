"""The pace of evictions: one for the run, and one for each profile that has its own."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.kube.token_bucket import TokenBucket
from descheduler.migration.settings import DispatchSettings

__all__ = ["CallWindow", "Paces"]


class Paces:
    """The token buckets of one run; `now` is a monotonic clock in seconds."""

    def __init__(self, settings: DispatchSettings, *, now: Callable[[], float]) -> None:
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
