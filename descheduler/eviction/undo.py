"""Taking back what was charged."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Undo = Callable[[], None]
"""Takes one change back exactly; the changes made after it have been taken back before."""


def _do_nothing() -> None:
    return


NOTHING_DONE: Undo = _do_nothing
"""Of what changed nothing."""


def undo_all(undos: Iterable[Undo]) -> Undo:
    """Takes changes back that were made in this order."""
    made = [undo for undo in undos if undo is not NOTHING_DONE]
    if len(made) < 2:
        return made[0] if made else NOTHING_DONE

    def undo() -> None:
        for each in reversed(made):
            each()

    return undo
