"""How others learn when a plugin runs, without a clock in here."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

__all__ = ["UNOBSERVED", "Operation", "PluginObserver"]

Operation = Literal["deschedule", "balance"]
"""The extension point that a plugin is run at."""


class PluginObserver(Protocol):
    """Told of every run of a plugin. Must not change what is decided."""

    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        """A context that is open for exactly as long as the plugin runs."""


class _Unobserved:
    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        return nullcontext()


UNOBSERVED: PluginObserver = _Unobserved()
"""Nobody wants to know."""
