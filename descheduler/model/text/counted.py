"""Numbers with their nouns, in sentences that people read."""

from __future__ import annotations

__all__ = ["counted", "counted_about", "text_about"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Such as `1 pod`, `1,523 nodes` or, with its `plural`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def counted_about(number: float, noun: str) -> str:
    """Such as `1 node` or `2.67 units`, as `text_about` has the number."""
    text = text_about(number)
    return f"{text} {noun if text == '1' else f'{noun}s'}"


def text_about(number: float) -> str:
    """A number with 2 decimals at most, such as `1,523` or `2.67`: `0.01` for what is less and yet above 0."""
    rounded = round(number, 2) or (0.01 if number > 0 else 0.0)
    return f"{rounded:,.2f}".rstrip("0").rstrip(".")
