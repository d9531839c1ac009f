"""Placeholders that take turns in a namespace whose ResourceQuota has room for few of them at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple

from descheduler.migration.room.provider import CannotHoldYet
from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["PlaceholderTurns"]

_UNTIL_COUNTED = timedelta(seconds=10)
"""A quota still counts a pod for a moment after it is deleted: the quota controller has to see that."""
_PAUSE = timedelta(seconds=2)
"""Between two attempts in a namespace in which no placeholder has been given back."""


class _Refusal(NamedTuple):
    at: datetime
    num_given_back: int

    def holds(self, now: datetime, num_given_back: int) -> bool:
        """Whether an attempt would be refused again, as far as that is known."""
        return num_given_back == self.num_given_back and now - self.at < _PAUSE


class PlaceholderTurns:
    """Which jobs of one run have placeholders in which namespace. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: defaultdict[str, set[str]] = defaultdict(set)
        self._num_given_back: Counter[str] = Counter()
        self._last: dict[str, _Refusal] = {}
        self._alone_since: dict[str, datetime] = {}
        """By UID of a job, when its namespace was full for the first time without any other placeholder of the run."""

    def begin(self, job: MigrationJob, now: datetime) -> None:
        """A placeholder is asked for. Raises CannotHoldYet where a quota has refused one a moment ago."""
        namespace = job.pod_namespace
        with self._lock:
            holders, last = self._holders[namespace], self._last.get(namespace)
            is_full = last is not None and last.holds(now, self._num_given_back[namespace])
            if is_full and job.uid not in holders:
                raise _not_yet(namespace)
            holders.add(job.uid)

    def end(self, job: MigrationJob) -> None:
        """The placeholder is given back, if there was one."""
        with self._lock:
            if job.uid in self._holders[job.pod_namespace]:
                self._holders[job.pod_namespace].remove(job.uid)
                self._num_given_back[job.pod_namespace] += 1

    def refused(self, job: MigrationJob, now: datetime) -> None:
        """A quota has refused the placeholder. Raises CannotHoldYet where others of the run make room for it."""
        namespace = job.pod_namespace
        with self._lock:
            self._holders[namespace].discard(job.uid)
            if self._holders[namespace]:
                self._alone_since.pop(job.uid, None)
            else:
                since = self._alone_since.setdefault(job.uid, now)
                if now - since >= _UNTIL_COUNTED or not self._num_given_back[namespace]:
                    return
            self._last[namespace] = _Refusal(now, self._num_given_back[namespace])
        raise _not_yet(namespace)


def _not_yet(namespace: str) -> CannotHoldYet:
    return CannotHoldYet(f"other placeholders of this run use up the ResourceQuota of namespace {namespace}")
