"""Evictions that were chosen before, in place of what plugins select."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ChosenMove"]


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """The pod with `uid` is to leave, as `plugin` of `profile` had asked for with the sentence `reason`."""

    uid: str
    profile: str
    plugin: str
    reason: str
