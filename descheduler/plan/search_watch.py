"""Who looks on while a planner searches: is told how far it is, and may end it."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec


class SearchState(msgspec.Struct, frozen=True):
    """How far a search is, in a clause; whether there is a plan, and the seconds after which the search ends."""

    text: str
    has_plan: bool = False
    most_seconds: float = math.inf


class SearchWatch(msgspec.Struct, frozen=True):
    """`note` takes the state of a search from its start on, and None at its end; any thread may call it.

    Once `is_cancelled` says so the best plan so far is used. `most_seconds` is how long a search that begins now may
    take, None for as long as it likes. It has `share` of the limits that its policy sets.
    """

    note: Callable[[SearchState | None], None] = lambda state: None
    is_cancelled: Callable[[], bool] = lambda: False
    most_seconds: Callable[[], float | None] = lambda: None
    share: float = 1.0

    def within(self, work: str) -> SearchWatch:
        """A watch over searches that are a part of `work`, whose states say so; from now on `work` is shown.

        Whoever calls this tells `note` of the end of the work.
        """

        def note(state: SearchState | None) -> None:
            self.note(SearchState(work) if state is None else SearchState(f"{work}: {state.text}", state.has_plan))

        note(None)
        return msgspec.structs.replace(self, note=note)


UNWATCHED = SearchWatch()
"""A watch that shows nothing."""
