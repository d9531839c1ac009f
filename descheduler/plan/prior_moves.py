"""What earlier rounds of a run have evicted: known to all that counts before anybody asks for anything.

Every round decides over the same snapshot, in which these pods still run. Whoever counts pods, usage or evictions looks
here for what has left already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.model.pod import Pod
from descheduler.plan.moves import Move

__all__ = ["PriorMoves"]


class PriorMoves:
    """The moves in the order in which they were made, each pod once, also those whose fate is not known."""

    def __init__(self, moves: Sequence[Move] = ()) -> None:
        self._moves = {move.pod.uid: move for move in moves}

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves.values())

    def __bool__(self) -> bool:
        return bool(self._moves)

    def have_taken(self, pod: Pod) -> bool:
        """Whether `pod` has left, or may have left."""
        return pod.uid in self._moves
