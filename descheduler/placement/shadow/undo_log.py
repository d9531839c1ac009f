"""The undo log of a shadow cluster: what was done, in order, so that it can be taken back or done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import msgspec

from descheduler.model.pod import Pod

__all__ = ["Change", "Changes", "Entry", "Taking", "WhatIf"]


class _Ledger(Protocol):
    """The methods of a ledger that an entry needs."""

    def release(self, taken: Any) -> None:
        """Gives back what was taken."""

    def restore(self, taken: Any) -> None:
        """Takes exactly that again."""


class Change(msgspec.Struct, frozen=True, gc=False):
    """A pod that came (`sign` 1) or left (-1). `takes_room` is false for one that keeps the room that it has."""

    pod: Pod
    node: int
    is_terminating: bool
    sign: int
    takes_room: bool = True


class Taking(NamedTuple):
    """What was taken out of a ledger (`sign` 1) or given back (-1)."""

    ledger: _Ledger
    taken: object
    sign: int


Entry = Change | Taking
Changes = tuple[Entry, ...]
"""Entries of the undo log, oldest first."""


class WhatIf:
    """A stretch of the undo log, from `ShadowCluster.what_if` on. At the end of a `with` statement all of it is taken
    back, unless it was kept."""

    __slots__ = ("_is_kept", "_log", "_start", "_undo_to")

    def __init__(self, log: Sequence[Entry], undo_to: Callable[[int], None]) -> None:
        self._log = log
        self._undo_to = undo_to
        self._start = len(log)
        self._is_kept = False

    @property
    def changes(self) -> Changes:
        """What was done so far, for `ShadowCluster.repeat`."""
        return tuple(self._log[self._start :])

    def keep(self) -> None:
        """Leaves everything as it is at the end."""
        self._is_kept = True

    def take_back(self) -> None:
        """Takes back everything so far; more may follow."""
        self._undo_to(self._start)

    def __enter__(self) -> WhatIf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or not self._is_kept:
            self.take_back()
