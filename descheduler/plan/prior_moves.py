"""What earlier rounds of a run have evicted: known to all that counts before anybody asks for anything.

Every round decides over the same snapshot, in which these pods still run. Whoever counts pods, usage or evictions looks
here for what has left already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod

__all__ = ["PriorMove", "PriorMoves"]


class PriorMove(msgspec.Struct, frozen=True):
    """An eviction of an earlier round, also one whose fate is not known, and in whose name it was asked for.

    `wave`, `cost`, `held_on` and `rooms` as in a move.
    """

    pod: Pod
    profile: str
    plugin: str
    reason: str = ""
    wave: int = 1
    cost: int | None = None
    held_on: str = ""
    rooms: tuple[HeldRoom, ...] = ()

    def is_of(self, profile: str, plugin: str) -> bool:
        """Whether this plugin of this profile has asked for it."""
        return self.profile == profile and self.plugin == plugin


class PriorMoves:
    """The moves in the order in which they were made, each pod once."""

    def __init__(self, moves: Sequence[PriorMove] = ()) -> None:
        self._moves = {move.pod.uid: move for move in moves}

    def __iter__(self) -> Iterator[PriorMove]:
        return iter(self._moves.values())

    def __bool__(self) -> bool:
        return bool(self._moves)

    def have_taken(self, pod: Pod) -> bool:
        """Whether `pod` has left, or may have left."""
        return pod.uid in self._moves
