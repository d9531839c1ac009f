"""What the executor needs of the world: something that evicts, and somebody who hears of outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.outcome import Outcome

__all__ = ["EvictPort", "OutcomeSink"]


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
        """The response to one call; a KubeError that it raises says that nothing was sent.

        `may_send` is asked when nothing is left but to send it; None is returned where that says no.
        """

    def look(self, namespace: str, name: str, *, uid: str) -> PodState:
        """What became of the pod with this uid, by one look."""


class OutcomeSink(Protocol):
    """Hears of every outcome as soon as it is known, in order of ending, from the thread that executes."""

    def record(self, outcome: Outcome) -> None:
        """Takes note; must neither block nor raise."""
