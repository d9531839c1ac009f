"""Evictions that were chosen before, in place of what plugins select."""

from __future__ import annotations

import msgspec

__all__ = ["ChosenMove"]


class ChosenMove(msgspec.Struct, frozen=True):
    """The pod with `uid` is to leave, as `plugin` of `profile` had asked for with the sentence `reason`."""

    uid: str
    profile: str
    plugin: str
    reason: str
