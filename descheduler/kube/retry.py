"""When and how often a call that got no usable answer is made again, and how many calls there are a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.transport.errors import AnswerTooLarge, TransportError

if TYPE_CHECKING:  # loaded when something is to be repeated, which is rare
    import tenacity

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


T = TypeVar("T")


class RetryPolicy(msgspec.Struct, frozen=True):
    """Exponential waits with full jitter, bounded by a number of attempts and by a time in seconds.

    Only for calls that are safe to repeat. A wait that the server asked for (`Retry-After`) replaces a shorter
    one, up to `longest_wait_seconds`. `sleep` is called with seconds; tests pass their own.
    """

    attempts: int = 5
    deadline_seconds: float = 60.0
    first_wait_seconds: float = 0.25
    longest_wait_seconds: float = 10.0
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts is {self.attempts}, at least 1 is needed")

    def call(self, attempt: Callable[[], T]) -> T:
        """The result of the first attempt that gets a usable answer.

        Raises the last TransportError or transient ApiError when attempts or time run out, any other error at once.
        """
        began = time.monotonic()
        try:
            return attempt()
        except (TransportError, ApiError) as error:
            if not _may_repeat(error):
                raise
            return self._repeat(attempt, error, self.deadline_seconds - (time.monotonic() - began))

    def _repeat(self, attempt: Callable[[], T], first: Exception, seconds_left: float) -> T:
        """As `call`, of which the first attempt has failed with `first`."""
        import tenacity

        backoff = tenacity.wait_random_exponential(multiplier=self.first_wait_seconds, max=self.longest_wait_seconds)
        failed = iter((first,))

        def next_attempt() -> T:
            for error in failed:
                raise error
            return attempt()

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts) | tenacity.stop_after_delay(seconds_left),
            wait=lambda state: self._wait_seconds(state, backoff(state)),
            retry=tenacity.retry_if_exception(_may_repeat),
            sleep=self.sleep,
            reraise=True,
        )
        try:
            return retrying(next_attempt)
        except AnswerTooLarge:
            raise
        except TransportError as error:
            num_attempts = retrying.statistics["attempt_number"]
            raise TransportError(f"{error} (tried {num_attempts} times)") from error

    def _wait_seconds(self, state: tenacity.RetryCallState, own_seconds: float) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        return min(max(own_seconds, asked or 0.0), self.longest_wait_seconds)


def _may_repeat(error: BaseException) -> bool:
    if isinstance(error, AnswerTooLarge):
        return False
    return isinstance(error, TransportError) or (isinstance(error, ApiError) and error.is_transient)
