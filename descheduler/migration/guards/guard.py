"""A guard, and those that go by the health of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from descheduler.migration.guards.health import Health
from descheduler.model.text.counted import counted
from descheduler.model.text.numbers import share_of

__all__ = ["Guard", "NotReadyNodes", "RisingPending"]


class Guard(Protocol):
    """Says when a run has to stop. Safe to be asked again."""

    def why(self, start: Health, now: Health) -> str:
        """What is wrong, to be read after "stopped by"; "" while nothing is. `start` is when evictions began."""


@dataclass(frozen=True, slots=True)
class RisingPending:
    """More pods find no node than at the start: `most_more` are allowed, a number or a percentage of the pods then."""

    most_more: int | str

    def why(self, start: Health, now: Health) -> str:
        """As Guard."""
        more = now.num_unschedulable - start.num_unschedulable
        if more <= share_of(self.most_more, start.num_pods):
            return ""
        found, before = counted(now.num_unschedulable, "unschedulable pod"), start.num_unschedulable
        return f"{found}, {before} before the first eviction (guards.maxPendingPodsIncrease: {self.most_more})"


@dataclass(frozen=True, slots=True)
class NotReadyNodes:
    """More nodes are not ready than `most`, a number or a percentage of the nodes."""

    most: int | str

    def why(self, start: Health, now: Health) -> str:
        """As Guard."""
        del start
        if now.num_not_ready <= _most_of(self.most, now.num_nodes):
            return ""
        return (
            f"{now.num_not_ready} of {counted(now.num_nodes, 'node')} NotReady (guards.maxNotReadyNodes: {self.most})"
        )


def _most_of(limit: int | str, whole: int) -> float:
    """`limit`, a number or a percentage of `whole`."""
    return whole * int(limit.removesuffix("%")) / 100 if isinstance(limit, str) else limit
