"""Limits on evictions, as tasks meet them when they are called."""

from __future__ import annotations

from descheduler.migration.controller.task import JobTask
from descheduler.migration.dispatch.limits import LimitLedger, Room

__all__ = ["TaskLimits"]


class TaskLimits:
    """What `ledger` has to say to tasks. Those of earlier runs and of users have met limits before, and meet none here.

    An eviction is in flight from its first call until the API server has accepted it, or the task has ended.
    """

    def __init__(self, ledger: LimitLedger) -> None:
        self._ledger = ledger
        self._begun: set[JobTask] = set()
        self._in_flight: set[JobTask] = set()

    def room_for(self, task: JobTask) -> tuple[Room, str]:
        """Whether the pod of `task` may be evicted, and a sentence on the limit that stands against it."""
        if task.is_adopted or task in self._begun:
            return Room.FREE, ""
        return self._ledger.room_for(task.eviction)

    def began(self, task: JobTask) -> None:
        """A call is made, the first or another one."""
        if not task.is_adopted and task not in self._begun:
            self._begun.add(task)
            self._in_flight.add(task)
            self._ledger.book(task.eviction)

    def ended(self, task: JobTask, *, counts: bool) -> None:
        """No call is in flight any more, which may be known already; `counts` says whether it uses the limits up."""
        if task in self._in_flight:
            self._in_flight.remove(task)
            self._ledger.settle(task.eviction, counts=counts)
