"""How many evictions may happen in total, on a node and in a namespace, with calls in flight counted."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from descheduler.eviction.checks.limits import RunLimits
from descheduler.model.verdict import LimitReached
from descheduler.plan.planned import PlannedEviction

_Scope = tuple[str, str]
"""What a limit counts: nodes or namespaces, and the name of one; empty texts for the whole run."""


class MayStart(Enum):
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

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._in_flight: Counter[_Scope] = Counter()
        self._counted: Counter[_Scope] = Counter()

    def room_for(self, eviction: PlannedEviction) -> tuple[MayStart, str]:
        """Whether it may start, and a sentence on the limit that forbids it.

        Of several limits the first is named, whichever call of those in flight ends first.
        """
        awaited = ""
        for limit in self._limits.of(eviction.node, eviction.namespace):
            scope = _scope(limit)
            if self._counted[scope] >= limit.value:
                return (MayStart.AWAITED, awaited) if awaited else (MayStart.FULL, limit.message)
            if self._counted[scope] + self._in_flight[scope] >= limit.value:
                awaited = awaited or limit.message
        return (MayStart.AWAITED, awaited) if awaited else (MayStart.FREE, "")

    def book(self, eviction: PlannedEviction) -> None:
        """Counts the eviction as in flight, from its first call until it is settled."""
        self._in_flight.update(self._scopes(eviction))

    def settle(self, eviction: PlannedEviction, *, counts: bool) -> None:
        """Ends a booking; `counts` says whether it uses the limits up."""
        scopes = self._scopes(eviction)
        self._in_flight.subtract(scopes)
        if counts:
            self._counted.update(scopes)

    def _scopes(self, eviction: PlannedEviction) -> list[_Scope]:
        return [_scope(limit) for limit in self._limits.of(eviction.node, eviction.namespace)]


def _scope(limit: LimitReached) -> _Scope:
    return limit.limit.scope_kind, limit.scope
