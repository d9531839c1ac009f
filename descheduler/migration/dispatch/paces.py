"""The pace of evictions: one for the run, and one for each profile that has its own."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.kube.token_bucket import TokenBucket
from descheduler.migration.settings import ExecutorSettings

__all__ = ["Paces"]


class Paces:
    """The token buckets of one run; `now` is a monotonic clock in seconds."""

    def __init__(self, settings: ExecutorSettings, *, now: Callable[[], float]) -> None:
        self._shared = TokenBucket(settings.qps, settings.burst, now=now)
        self._own = {
            profile: TokenBucket(terms.pace.qps, terms.pace.burst, now=now)
            for profile, terms in settings.terms.items()
            if terms.pace is not None
        }

    def try_take(self, profile: str) -> float:
        """0 when a call for an eviction of `profile` may start now, else the seconds until it may be asked again."""
        return self._own.get(profile, self._shared).try_take()
