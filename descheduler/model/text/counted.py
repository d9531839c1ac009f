"""Numbers with their nouns, in sentences that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

KeyT = TypeVar("KeyT", bound="SupportsRichComparison")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Such as `1 pod`, `1,523 nodes` or, with its `plural`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def first_names(names: Sequence[str], most: int, number: int | None = None) -> str:
    """The first `most` of them, and how many more there are: `a, b and 1,523 more`.

    `number` is how many there are in all, where `names` has only the first ones.
    """
    num_more = (len(names) if number is None else number) - most
    more = f" and {num_more:,} more" if num_more > 0 else ""
    return ", ".join(names[:most]) + more


def counted_about(number: float, noun: str) -> str:
    """Such as `1 node` or `2.67 units`, as `text_about` has the number."""
    text = text_about(number)
    return f"{text} {noun if text == '1' else f'{noun}s'}"


def text_about(number: float) -> str:
    """A number with 2 decimals at most, such as `1,523` or `2.67`: `0.01` for what is less and yet above 0."""
    rounded = round(number, 2) or (0.01 if number > 0 else 0.0)
    return f"{rounded:,.2f}".rstrip("0").rstrip(".")


def most_first(counts: Mapping[KeyT, int]) -> list[tuple[KeyT, int]]:
    """The counts with their keys, the highest count first, equal ones by key."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
