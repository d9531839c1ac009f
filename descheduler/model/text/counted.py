"""Numbers with their nouns, in sentences that people read."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Such as `1 pod`, `1,523 nodes` or, with its `plural`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
