"""A token bucket: so many calls a second on average, so many at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["TokenBucket"]

# A wait computed from a fraction of a token may end a rounding error early; without this slack the caller would be
# told to wait for a time too short to move a clock at all.
_SLACK_TOKENS = 1e-9


class TokenBucket:
    """At most `qps` tokens a second, with up to `burst` saved while idle; safe to use from several threads.

    `now` is a monotonic clock in seconds. Raises ValueError for a rate that is not positive or a burst below 1.
    """

    def __init__(self, qps: float, burst: int, *, now: Callable[[], float] = time.monotonic) -> None:
        if not qps > 0:
            raise ValueError(f"qps is {qps}, it must be above 0")
        if burst < 1:
            raise ValueError(f"burst is {burst}, at least 1 is needed")
        self._qps = qps
        self._burst = burst
        self._now = now
        self._tokens = float(burst)
        self._filled_at = now()
        self._lock = threading.Lock()

    def try_take(self) -> float:
        """0 when a token was taken, else the seconds until one will be there (none is taken)."""
        with self._lock:
            now = self._now()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps)
            self._filled_at = now
            if self._tokens >= 1 - _SLACK_TOKENS:
                self._tokens = max(0.0, self._tokens - 1)
                return 0.0
            return (1 - self._tokens) / self._qps
