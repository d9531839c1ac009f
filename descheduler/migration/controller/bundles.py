"""Jobs that go together, such as those of a gang: none is evicted before there is room for all of them."""

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

    def is_complete(self, eviction: PlannedEviction, ready: Collection[JobTask]) -> bool:
        """Whether it may leave: it is alone, one of its bundle has left, or it is the turn of all that remain."""
        bundle = eviction.bundle
        return bundle not in self._members or bundle in self._leaving or set(self._members[bundle]) <= set(ready)

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
