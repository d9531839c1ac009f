"""All that can come of a cycle of Volcano where it leaves something to chance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from descheduler.placement.volcano.order import Choices

T = TypeVar("T")
OutcomeT = TypeVar("OutcomeT", bound=Hashable)


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
