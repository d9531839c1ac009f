"""Evictions that were chosen before, in place of what plugins select."""

from __future__ import annotations

import msgspec

__all__ = ["ChosenMove"]


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
