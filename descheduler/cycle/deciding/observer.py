"""How others learn when a plugin runs, without a clock in here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol

from descheduler.plan.moves import Move

__all__ = ["UNOBSERVED", "Operation", "PluginObserver"]

Operation = Literal["deschedule", "balance"]
"""The extension point that a plugin is run at."""


class PluginObserver(Protocol):
    """Told of every run of a plugin. Must not change what is decided."""

    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        """A context that is open for exactly as long as the plugin runs."""

    def mark(self) -> object:
        """What it was told so far, for `back_to`."""

    def back_to(self, mark: Any) -> None:
        """Forgets what it was told since `mark` was given: the plugins are asked again."""

    def reordered(self, moves: Sequence[Move]) -> None:
        """All evictions granted so far in a new order: some were granted, after all, ahead of others."""


class _Unobserved:
    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        return nullcontext()

    def mark(self) -> object:
        return None

    def back_to(self, mark: object) -> None:
        pass

    def reordered(self, moves: Sequence[Move]) -> None:
        pass


UNOBSERVED: PluginObserver = _Unobserved()
"""An observer that ignores everything."""
