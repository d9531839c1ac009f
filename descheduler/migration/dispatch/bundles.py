"""Pods that leave together, such as a gang: all of them or none, as far as the API server lets them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

from descheduler.migration.dispatch.task import DispatchTask
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

_NOTHING_SAID = frozenset({OutcomeCode.DRY_RUN, OutcomeCode.REPEATED})

T = TypeVar("T", bound=DispatchTask)


class Bundles(Generic[T]):
    """What became of the bundles of `tasks` so far. An eviction of bundle 0 is its own.

    The API server may refuse a pod that the plan had counted on. Once one of a bundle has left, nothing is gained by
    keeping others back, and all of them are asked for. Until then none begins after one that stays.
    """

    def __init__(self, tasks: Iterable[T]) -> None:
        self._members: dict[int, set[T]] = defaultdict(set)
        self._ahead: dict[int, T] = {}
        self._leaving: set[int] = set()
        self._stayed: dict[int, str] = {}
        for task in tasks:
            if task.eviction.bundle:
                self._members[task.eviction.bundle].add(task)

    def members(self, task: T) -> Collection[T]:
        """The tasks of its bundle for which anything is to be done, `task` included; none where it leaves alone."""
        return self._members.get(task.eviction.bundle, ())

    def is_leaving(self, eviction: PlannedEviction) -> bool:
        """Whether one of its bundle has left."""
        return eviction.bundle in self._leaving

    def awaits(self, task: T) -> bool:
        """Whether it has to wait for what becomes of the one that went ahead."""
        bundle = task.eviction.bundle
        return bundle not in self._leaving and self._ahead.get(bundle, task) is not task

    def goes_ahead(self, task: T) -> None:
        """Its first call is made: the others of its bundle follow only if it leaves."""
        if task.eviction.bundle:
            self._ahead.setdefault(task.eviction.bundle, task)

    def leaves(self, eviction: PlannedEviction) -> None:
        """The others of its bundle follow, whatever becomes of it."""
        if eviction.bundle:
            self._leaving.add(eviction.bundle)

    def ended(self, task: T, kind: OutcomeKind, code: OutcomeCode) -> None:
        """Nothing more is done about `task`. A pod that is gone by itself holds no other back."""
        eviction = task.eviction
        if task not in self.members(task):
            return
        self._members[eviction.bundle].remove(task)
        if code in _NOTHING_SAID:
            return
        if kind.uses_limits:
            self.leaves(eviction)
        elif kind is OutcomeKind.GONE:
            self._ahead.pop(eviction.bundle, None)
        else:
            self._stayed.setdefault(eviction.bundle, f"{eviction.namespace}/{eviction.name}")

    @property
    def has_left_overs(self) -> bool:
        """Whether there are evictions of which `why_broken` has something to say."""
        return any(self._members[bundle] for bundle in self._stayed.keys() - self._leaving)

    def why_broken(self, eviction: PlannedEviction) -> str:
        """Why it stays: another one of its bundle does, and none has left; "" where that is not so."""
        if eviction.bundle not in self._stayed or eviction.bundle in self._leaving:
            return ""
        return f"pod {self._stayed[eviction.bundle]}, with which it has to leave together, was not evicted"
