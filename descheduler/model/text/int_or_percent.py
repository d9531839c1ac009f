"""Limits that are a number or a percentage, such as `10%`, as `maxUnavailable` of Kubernetes is."""

from __future__ import annotations

import re

__all__ = ["PERCENTAGE_PATTERN", "is_percentage", "share_of"]

PERCENTAGE_PATTERN = "^([1-9][0-9]?|100)%$"
_PERCENTAGE = re.compile(r"([1-9][0-9]?|100)%\Z")


def is_percentage(text: str) -> bool:
    """Whether it is one from 1% to 100%, without a sign, a fraction or leading zeros."""
    return _PERCENTAGE.match(text) is not None


def share_of(limit: int | str, whole: int) -> int:
    """`limit` itself when it is a number, else that percentage of `whole`, rounded down, and at least 1.

    Rounded down, as Kubernetes does with `maxUnavailable`, so that no more than the percentage leaves; at least 1, so
    that a percentage does not become a ban in a small cluster. Raises ValueError for a text that is no percentage.
    """
    if isinstance(limit, int):
        return limit
    if not is_percentage(limit):
        raise ValueError(f"{limit!r} is not a percentage from 1% to 100%")
    return max(1, whole * int(limit.removesuffix("%")) // 100)
