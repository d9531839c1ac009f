"""What the dispatcher needs of the world: something that evicts, and somebody who hears of outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction


class EvictPort(Protocol):
    """Evicts one pod; `descheduler.kube.evict.EvictionClient` is the real one. Called from several threads."""

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """The response to one call; an ExchangeError that it raises says that nothing was sent.

        `may_send` is asked when nothing is left but to send it; None is returned where that says no.
        """

    def look(self, namespace: str, name: str, *, uid: str) -> PodState:
        """What became of the pod with this uid, by one look."""


class OutcomeSink(Protocol):
    """Hears of every outcome as soon as it is known, in order of ending, from the thread that executes.

    It hears of waits too. No method may block or raise.
    """

    def planned(self, num_evictions: int) -> None:
        """Takes note of how many evictions there are in all, those that ended included; it may change on the way."""

    def record(self, outcome: Outcome) -> None:
        """Takes note of how an eviction ended."""

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """No clear answer came, for the first time with this pod; its fate is known after so long at most."""

    def turned_away(self, seconds: float) -> None:
        """The API server turned a call away unread; none starts for so long."""
