"""How many evictions may happen in total, on a node and in a namespace, with calls in flight counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

from descheduler.eviction.checks.limits import EvictionLimits
from descheduler.model.eviction_limits import EvictionLimit, ReachedLimit
from descheduler.plan.planned import PlannedEviction

__all__ = ["LimitLedger", "Room"]


class Room(Enum):
    """Whether one more eviction may start."""

    FREE = "free"
    """It may."""
    AWAITED = "awaited"
    """Calls in flight will tell: if one of them fails there is room, else there is none."""
    FULL = "full"
    """It may not, whatever calls in flight bring."""


class LimitLedger:
    """Books evictions as they start and settles them as they end.

    Counting the calls in flight as successes, and waiting for them where they decide, keeps the limits exact: never
    one too many, and never one too few because a call failed. Not for use from several threads.
    """

    def __init__(self, limits: EvictionLimits) -> None:
        self._limits = limits
        self._in_flight: Counter[tuple[str, str]] = Counter()
        self._counted: Counter[tuple[str, str]] = Counter()

    def room_for(self, eviction: PlannedEviction) -> tuple[Room, str]:
        """Whether it may start, and a sentence on the limit that stands against it.

        Of several limits the first is named, whichever call of those in flight ends first.
        """
        awaited = ""
        for scope, limit, text in self._scopes(eviction):
            if self._counted[scope] >= limit:
                return (Room.AWAITED, awaited) if awaited else (Room.FULL, text)
            if self._counted[scope] + self._in_flight[scope] >= limit:
                awaited = awaited or text
        return (Room.AWAITED, awaited) if awaited else (Room.FREE, "")

    def book(self, eviction: PlannedEviction) -> None:
        """Counts the eviction as in flight, from its first call until it is settled."""
        self._in_flight.update(scope for scope, _, _ in self._scopes(eviction))

    def settle(self, eviction: PlannedEviction, *, counts: bool) -> None:
        """Ends a booking; `counts` says whether it uses the limits up."""
        scopes = [scope for scope, _, _ in self._scopes(eviction)]
        self._in_flight.subtract(scopes)
        if counts:
            self._counted.update(scopes)

    def _scopes(self, eviction: PlannedEviction) -> Iterator[tuple[tuple[str, str], int, str]]:
        limits = self._limits
        if limits.total is not None:
            yield _scope(EvictionLimit.TOTAL, limits.total)
        if limits.per_node is not None and eviction.node:
            yield _scope(EvictionLimit.NODE, limits.per_node, eviction.node)
        if limits.per_namespace is not None:
            yield _scope(EvictionLimit.NAMESPACE, limits.per_namespace, eviction.namespace)


def _scope(limit: EvictionLimit, value: int, scope: str = "") -> tuple[tuple[str, str], int, str]:
    """What is counted for the limit, its value, and the sentence that says that it is reached."""
    return (limit.scope_kind, scope), value, ReachedLimit(limit, value, scope).message
