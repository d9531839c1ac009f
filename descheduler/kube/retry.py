"""When and how often a call that got no usable answer is made again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.transport.errors import AnswerTooLarge, TransportError

if TYPE_CHECKING:  # loaded when something is to be repeated, which is rare
    import tenacity

__all__ = ["RetryPolicy"]

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
