"""Whole numbers in texts that anybody may write, such as annotations and names."""

from __future__ import annotations

__all__ = ["whole_number"]

_MOST_DIGITS = 18
"""As many as always fit into 64 bits. Python itself refuses texts of more than 4,300 digits with an error."""


def whole_number(text: str) -> int | None:
    """The number that `text` is, in at most 18 decimal digits without a sign; None where it is none of that form."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
