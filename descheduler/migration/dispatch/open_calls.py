"""Calls that may still take effect: what a run that ends must not leave to another run, nor keep from its operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descheduler.plan.planned import PlannedEviction

__all__ = ["OpenCalls"]


class OpenCalls:
    """The evictions of one run that were asked for and whose fate is not known.

    `effect_seconds` is for how long a call without an answer may still take effect, `now` a monotonic clock in seconds.
    Written by the thread that executes; the same thread may read it from a signal handler, at any point.
    """

    def __init__(self, effect_seconds: float, *, now: Callable[[], float]) -> None:
        self._effect_seconds = effect_seconds
        self._now = now
        self._settles_at: dict[str, tuple[PlannedEviction, float | None]] = {}
        """By uid. None while a call is under way: the server may get it only now."""

    def began(self, eviction: PlannedEviction) -> None:
        """A call is about to be sent."""
        self._settles_at[eviction.uid] = (eviction, None)

    def doubted(self, eviction: PlannedEviction, settles_at: float) -> None:
        """No call is under way, and those before may take effect until then."""
        self._settles_at[eviction.uid] = (eviction, settles_at)

    def ended(self, eviction: PlannedEviction) -> None:
        """The pod's fate is known."""
        self._settles_at.pop(eviction.uid, None)

    @property
    def seconds_left(self) -> float:
        """For how long any of them may still take effect; 0 when none can."""
        now = self._now()
        ends = (now + self._effect_seconds if at is None else at for _, at in list(self._settles_at.values()))
        return max(0.0, max(ends, default=now) - now)

    @property
    def pods(self) -> Sequence[str]:
        """`namespace/name` of each, in the order of their first calls."""
        return [f"{eviction.namespace}/{eviction.name}" for eviction, _ in list(self._settles_at.values())]
