"""What Volcano takes first, and what it leaves to chance.

Priority queues are Go's `container/heap`, move by move: what is compared may change while something waits in one.
Where Volcano chooses at random, a session asks its `Choices`; `outcomes` runs it with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

__all__ = ["Choices", "FirstChoices", "Heap", "Outcomes", "outcomes"]

T = TypeVar("T")
OutcomeT = TypeVar("OutcomeT", bound=Hashable)


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
        """0."""
        del number
        return 0

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """As they are."""
        return list(items)

    def raced(self, items: Iterable[T]) -> list[T]:
        """As they are."""
        return list(items)


class _Replayed:
    """Repeats choices, then takes the first, and notes between how many it chose."""

    def __init__(self, chosen: Sequence[int]) -> None:
        self._chosen = chosen
        self.made: list[tuple[int, int]] = []

    def index(self, number: int) -> int:
        if number == 1:
            return 0
        place = len(self.made)
        found = self._chosen[place] if place < len(self._chosen) else 0
        self.made.append((found, number))
        return found

    def shuffled(self, items: Iterable[T]) -> list[T]:
        rest, found = list(items), []
        while rest:
            found.append(rest.pop(self.index(len(rest))))
        return found

    def raced(self, items: Iterable[T]) -> list[T]:
        return self.shuffled(items)


class Outcomes(NamedTuple, Generic[OutcomeT]):
    """What can come of a session; `is_complete` says that nothing else can."""

    found: frozenset[OutcomeT]
    is_complete: bool


def outcomes(run: Callable[[Choices], OutcomeT], *, most: int) -> Outcomes[OutcomeT]:
    """What comes of `run` by all choices that it may make, as long as these are no more than `most` runs."""
    found: set[OutcomeT] = set()
    chosen: list[int] = []
    for _ in range(most):
        choices = _Replayed(chosen)
        found.add(run(choices))
        following = _next(choices.made)
        if following is None:
            return Outcomes(frozenset(found), is_complete=True)
        chosen = following
    return Outcomes(frozenset(found), is_complete=False)


def _next(made: Sequence[tuple[int, int]]) -> list[int] | None:
    """The choices of the run after the one that made these, None after the last one."""
    for place in reversed(range(len(made))):
        index, number = made[place]
        if index + 1 < number:
            return [each for each, _ in made[:place]] + [index + 1]
    return None
