"""Evictions that were chosen before, in place of what plugins select."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from descheduler.plan.moves import Move

__all__ = ["ChosenMove", "EarlierPlan", "earlier_plan"]


class ChosenMove(msgspec.Struct, frozen=True):
    """The pod with `uid` is to leave, as `plugin` of `profile` had asked for with the sentence `reason`.

    `wave`, `cost`, `held_on` and `bundle` as in a move, and `rooms` as pairs of the UID of the pod and the node.
    """

    uid: str
    profile: str
    plugin: str
    reason: str
    wave: int = 1
    cost: int | None = None
    held_on: str = ""
    rooms: tuple[tuple[str, str], ...] = ()
    bundle: int = 0


class EarlierPlan(msgspec.Struct, frozen=True):
    """Moves that were decided on before: plugins that search ask for theirs among them in place of a search.

    With `is_checked` they first look whether there is still something for them to do.
    """

    moves: Sequence[ChosenMove]
    is_checked: bool = False


def earlier_plan(moves: Iterable[Move]) -> EarlierPlan:
    """The plan that asks for `moves` as they were asked for."""
    return EarlierPlan(
        tuple(
            ChosenMove(
                move.pod.uid,
                move.profile,
                move.plugin,
                move.reason,
                move.wave,
                move.cost,
                move.held_on,
                tuple((room.pod.uid, room.node) for room in move.rooms),
                move.bundle,
            )
            for move in moves
        )
    )
