"""A list that the API server begins with before anybody reads it."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from typing import Generic, TypeVar

from descheduler.kube.background import BackgroundCalls

__all__ = ["BegunList"]

Part = TypeVar("Part")


class BegunList(Generic[Part]):
    """Takes the first of `parts` on a thread of its own, at once; the others wait to be read."""

    def __init__(self, parts: Generator[Part, None, None]) -> None:
        self._parts = parts
        self._calls: BackgroundCalls[list[Part]] = BackgroundCalls(1, name="list")
        self._first = self._calls.submit(lambda: list(islice(parts, 1)))

    def parts(self) -> Generator[Part, None, None]:
        """All parts, once; raises what they raise. The list is given up when this is closed."""
        try:
            yield from self._first.result()
            yield from self._parts
        finally:
            self.close()

    def close(self) -> None:
        """Gives the list up, without waiting for a server that is still to answer."""
        self._calls.close()
        self._first.add_done_callback(lambda _: self._parts.close())
