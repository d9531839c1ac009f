"""The two extension points of strategies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from descheduler.model.node import Node

__all__ = ["BalancePlugin", "DeschedulePlugin", "StrategyError"]


class StrategyError(Exception):
    """A strategy cannot work in this cycle; the others go on. The message names what is missing."""


class DeschedulePlugin(Protocol):
    """Asks for the eviction of pods that break a rule by themselves."""

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Looks at `nodes`, in their order. Raises StrategyError."""


class BalancePlugin(Protocol):
    """Asks for the eviction of pods so that the rest is spread better."""

    def balance(self, nodes: Sequence[Node]) -> None:
        """Looks at `nodes`, in their order. Raises StrategyError."""
