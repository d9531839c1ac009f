"""What the eviction API answered, or is known to answer, for single pods."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

__all__ = ["BACKGROUND_TEXT", "Answers", "EvictionAnswer"]

BACKGROUND_TEXT = "Eviction triggered evacuation"
"""What a refusal says when another controller has taken the eviction over (KubeVirt's wording)."""


class EvictionAnswer(msgspec.Struct, frozen=True):
    """A refusal of the eviction API; `code` 0 stands for an error without an HTTP status."""

    code: int
    message: str

    @property
    def starts_background_eviction(self) -> bool:
        """Whether the refusal says that another controller has taken the eviction over."""
        return self.code == 429 and BACKGROUND_TEXT in self.message


Answers = Mapping[str, EvictionAnswer]
"""`namespace/name` → the refusal; every pod not named is evicted."""
