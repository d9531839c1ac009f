"""Taking back what was charged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["NOTHING_DONE", "Undo", "undo_all"]

Undo = Callable[[], None]
"""Takes one change back exactly; the changes made after it have been taken back before."""


def _do_nothing() -> None:
    return


NOTHING_DONE: Undo = _do_nothing
"""Of what changed nothing."""


def undo_all(undos: Sequence[Undo]) -> Undo:
    """Takes changes back that were made in this order."""

    def undo() -> None:
        for each in reversed(undos):
            each()

    return undo
