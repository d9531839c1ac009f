"""Jobs that go together, such as those of a gang: none leaves before there is room for all that leave first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from descheduler.migration.controller.task import JobTask
from descheduler.plan.outcome import OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["Bundles"]


class Bundles:
    """The bundles of `tasks`. An eviction of bundle 0 is its own."""

    def __init__(self, tasks: Iterable[JobTask]) -> None:
        self._members: dict[int, list[JobTask]] = defaultdict(list)
        self._leaving: set[int] = set()
        self._broken_by: dict[int, str] = {}
        for task in tasks:
            if task.eviction.bundle:
                self._members[task.eviction.bundle].append(task)

    def is_complete(self, task: JobTask, ready: Collection[JobTask], now: float) -> bool:
        """Whether it may leave: it is alone, one of its bundle has left, or it is the turn of all of its wave.

        Those of later waves find room only once it has left. Where they hold room ahead, and where room is held for
        pending pods, the Reservations are tried next at `now`.
        """
        bundle, at_turn = task.eviction.bundle, set(ready)
        if bundle in self._leaving or bundle not in self._members:
            return not task.eviction.rooms or _is_next(task, at_turn, now)
        together = {each for each in self._members[bundle] if each.eviction.wave == task.eviction.wave}
        ahead = [
            each for each in self._members[bundle] if each.waves_ahead or (each in together and each.eviction.rooms)
        ]
        return together <= at_turn and all(_is_next(each, at_turn, now) for each in ahead)

    def began(self, eviction: PlannedEviction) -> None:
        """Its eviction was asked for: those that go with it are to follow."""
        if eviction.bundle:
            self._leaving.add(eviction.bundle)

    def ended(self, task: JobTask, kind: OutcomeKind) -> None:
        """Nothing more is done about `task`. One that is gone by itself holds nobody back."""
        eviction = task.eviction
        if task not in self._members.get(eviction.bundle, ()):
            return
        self._members[eviction.bundle].remove(task)
        if eviction.bundle not in self._leaving and kind is not OutcomeKind.GONE:
            self._broken_by.setdefault(eviction.bundle, f"{eviction.namespace}/{eviction.name}")

    @property
    def has_left_overs(self) -> bool:
        """Whether there are evictions of which `why_broken` has something to say."""
        return any(self._members[bundle] for bundle in self._broken_by.keys() - self._leaving)

    def why_broken(self, eviction: PlannedEviction) -> str:
        """Why it stays: another one of its bundle does, and none has left; "" where that is not so."""
        if eviction.bundle in self._leaving or eviction.bundle not in self._broken_by:
            return ""
        return f"pod {self._broken_by[eviction.bundle]}, with which it has to leave together, was not evicted"


def _is_next(task: JobTask, at_turn: Collection[JobTask], now: float) -> bool:
    """Whether the Reservations of its job are tried next; one whose turn has come without any has none to wait for."""
    return task.is_next_for_room(now) or (task.room_asked_at is None and task in at_turn)
