"""Which workloads runs have moved pods of, from where to where and when: the evictor's own note in the run memory."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

RECENT_MOVES_KEY = "recent-moves"
"""Under which the note is kept. Plugins' keys have slashes. All policies beside one Lease share it: a workload that one
of them has moved rests for the others too."""
MOST_MOVES = 3_000
"""The latest are kept; at some 200 bytes each they leave room for the notes of plugins."""


class RecentMovesError(ValueError):
    """A note that `RecentMoves.encoded` did not write."""


class WorkloadId(msgspec.Struct, frozen=True, array_like=True):
    """What creates the replacement of a pod: its top controller as far as it is known, or the pod itself."""

    kind: str
    namespace: str
    name: str
    uid: str = ""

    @property
    def key(self) -> str:
        """Tells it from all others; one that was deleted and created again is another, where uids are known."""
        return self.uid or str(self)

    def __str__(self) -> str:
        """Its name for messages."""
        return f"{self.kind} {self.namespace}/{self.name}"


class RecentMove(msgspec.Struct, frozen=True, array_like=True):
    """A pod of `workload` that left node `source` at `at` (aware UTC).

    `target` is where its replacement was seen, or else predicted, "" where neither is known. `outcome` is the code of
    its `Outcome`.
    """

    workload: WorkloadId
    source: str
    target: str
    at: datetime
    outcome: str


_decode_moves = msgspec.json.Decoder(tuple[RecentMove, ...]).decode


class RecentMoves:
    """Moves of runs that have ended, the oldest first."""

    def __init__(self, moves: Iterable[RecentMove] = ()) -> None:
        self.moves = tuple(sorted(moves, key=lambda move: move.at)[-MOST_MOVES:])

    def of(self, workload: WorkloadId, *, since: datetime) -> tuple[RecentMove, ...]:
        """The moves of one workload after `since`, the oldest first."""
        return tuple(move for move in self._by_workload.get(workload.key, ()) if move.at > since)

    def after(self, now: datetime, moves: Iterable[RecentMove], *, keep: timedelta) -> RecentMoves:
        """These and `moves`, without those that are older than `keep` or of a time that far ahead."""
        return RecentMoves(move for move in (*self.moves, *moves) if abs(now - move.at) <= keep)

    def encoded(self) -> bytes:
        """The moves as JSON; empty for none."""
        return msgspec.json.encode(self.moves) if self.moves else b""

    @classmethod
    def decoded(cls, note: bytes) -> RecentMoves:
        """The moves that `encoded` wrote. Raises RecentMovesError for any other text."""
        if not note:
            return NO_MOVES
        try:
            moves = _decode_moves(note)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise RecentMovesError(f"it is damaged: {error}") from error
        if any(move.at.tzinfo is None for move in moves):
            raise RecentMovesError("a time in it has no time zone")
        return cls(moves)

    @cached_property
    def _by_workload(self) -> dict[str, list[RecentMove]]:
        moves: dict[str, list[RecentMove]] = {}
        for move in self.moves:
            moves.setdefault(move.workload.key, []).append(move)
        return moves


NO_MOVES = RecentMoves()
"""Of a run that knows of no others."""
