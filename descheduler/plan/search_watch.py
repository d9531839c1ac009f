"""Who looks on while a planner searches: is told how far it is, and may end it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

__all__ = ["UNWATCHED", "SearchWatch"]


class SearchWatch(msgspec.Struct, frozen=True):
    """`note` takes a sentence about the best plan so far, and "" at the end; any thread may call it.

    Once `is_cancelled` says so the best plan so far is used. `most_seconds` is how long a search that begins now may
    take, None for as long as it likes. It has `share` of the limits that its policy sets.
    """

    note: Callable[[str], None] = lambda text: None
    is_cancelled: Callable[[], bool] = lambda: False
    most_seconds: Callable[[], float | None] = lambda: None
    share: float = 1.0


UNWATCHED = SearchWatch()
"""Nobody looks on."""
