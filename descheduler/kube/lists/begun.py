"""Lists that the API server begins with before anybody reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from itertools import islice, pairwise
from typing import Generic, TypeVar

from descheduler.kube.background import BackgroundCalls

Part = TypeVar("Part")


class BegunList(Generic[Part]):
    """Takes the first of `parts` on a thread of its own, at once; the others wait to be read.

    `at_first` is called on that thread once there is one.
    """

    def __init__(self, parts: Generator[Part, None, None], at_first: Callable[[], None] = lambda: None) -> None:
        def take_first() -> list[Part]:
            first = list(islice(parts, 1))
            if first:
                at_first()
            return first

        self._parts = parts
        self._calls: BackgroundCalls[list[Part]] = BackgroundCalls(1, name="list")
        self._first = self._calls.submit(take_first)

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


class BegunLists(Generic[Part]):
    """Lists that are read one after the other, in the order of `ask`, which has what asks for each by its name.

    A server thinks about a large list before it sends the first byte of it. So each list is asked for as soon as the
    one before has come so far that its version is settled: with its first part. `on_read` is told of each list that is
    read from now on, and may raise to forbid it.
    """

    def __init__(
        self,
        ask: Mapping[str, Callable[[], Generator[Part, None, None]]],
        on_read: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._ask = ask
        self._on_read = on_read
        self._next = dict(pairwise(ask))
        self._begun: dict[str, BegunList[Part]] = {}
        self._is_closed = False
        self._generation = 0
        """How often all was given up."""
        self._lock = threading.RLock()
        """A list is begun on the thread of the one before, while all may be given up on another; or on the same thread,
        where calls are made at once."""

    def begin(self, name: str) -> None:
        """Asks for the list, if that is not done."""
        with self._lock:
            self._begin(name)

    def parts(self, name: str) -> Generator[Part, None, None]:
        """All parts of the list, as `BegunList.parts`."""
        self._on_read(name)
        self.begin(name)
        yield from self._begun.pop(name).parts()

    def give_up(self) -> None:
        """Gives up what was asked for and is not read: it is asked for again when it is to be read."""
        with self._lock:
            self._generation += 1
            while self._begun:
                self._begun.popitem()[1].close()

    def close(self) -> None:
        """Gives up what was asked for and is not read, and asks for nothing more."""
        self._is_closed = True
        self.give_up()

    def _begin(self, name: str) -> None:
        if name not in self._begun and not self._is_closed:
            generation = self._generation
            self._begun[name] = BegunList(self._ask[name](), lambda: self._begin_next(name, generation))

    def _begin_next(self, name: str, generation: int) -> None:
        """Goes on behind a list, if that was not given up meanwhile."""
        with self._lock:
            if name in self._next and generation == self._generation:
                self._begin(self._next[name])
