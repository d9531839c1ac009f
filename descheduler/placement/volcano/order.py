"""What Volcano takes first, and what it leaves to chance.

Priority queues are Go's `container/heap`, move by move: what is compared may change while something waits in one.
Where Volcano chooses at random, a session asks its `Choices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """A priority queue: `is_less(left, right)` says that `left` comes first."""

    def __init__(self, is_less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._is_less = is_less
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def __bool__(self) -> bool:
        return bool(self._items)

    def push(self, item: T) -> None:
        """One more."""
        items = self._items
        items.append(item)
        place = len(items) - 1
        while place:
            parent = (place - 1) // 2
            if not self._is_less(items[place], items[parent]):
                return
            items[place], items[parent] = items[parent], items[place]
            place = parent

    def pop(self) -> T:
        """The one that comes first."""
        items = self._items
        items[0], items[-1] = items[-1], items[0]
        found = items.pop()
        place = 0
        while (child := 2 * place + 1) < len(items):
            if child + 1 < len(items) and self._is_less(items[child + 1], items[child]):
                child += 1
            if not self._is_less(items[child], items[place]):
                break
            items[place], items[child] = items[child], items[place]
            place = child
        return found


class Choices(Protocol):
    """Who decides where Volcano leaves it to chance."""

    def index(self, number: int) -> int:
        """One of the indices below `number`, which is at least 1."""

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """`items` in the order in which a map of Go gives them."""

    def raced(self, items: Iterable[T]) -> list[T]:
        """`items` in the order in which workers have finished that took them in this order."""


class FirstChoices:
    """The first of all, in the order given: by name."""

    def index(self, number: int) -> int:
        return 0

    def shuffled(self, items: Iterable[T]) -> list[T]:
        return list(items)

    def raced(self, items: Iterable[T]) -> list[T]:
        return list(items)
