"""What every subject of an explanation is handed, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.round import RunSetting
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.scheduling.waiting import Scheduling
from descheduler.explanation.watched_run import WatchedRun, watched_run
from descheduler.model.pod import Pod
from descheduler.policy.types import Policy
from descheduler.report.subjects import Subject
from descheduler.report.tables.table_style import TableStyle

Part = TypeVar("Part", bound=Fields)
"""The part of the document that is about one subject."""


class Inquiry(NamedTuple):
    """A question: the type and the name of a subject, and all that it is explained by.

    Names are as the command line makes them: `namespace/name`, or `name` for one that any namespace may hold, and
    `namespace/` or "" for all things of a type that can be listed. `cluster` is None where a subject needs none.
    """

    type: str
    name: str
    cluster: Snapshot | None
    policy: Policy | None
    settings: SchedulingSettings
    now: datetime
    setting: RunSetting | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The cluster, for subjects that need one."""
        assert self.cluster is not None  # noqa: S101 - it is read for each of them
        return self.cluster

    def scheduling(self) -> Scheduling:
        """The cluster as it is, and its schedulers."""
        return Scheduling.of(self.snapshot, self.settings)

    def run(self, pods: Iterable[Pod]) -> WatchedRun | None:
        """One run that watches `pods`; None without a policy or a cluster."""
        if self.policy is None or self.cluster is None:
            return None
        return watched_run(self.policy, self.cluster, pods, self.now, self.setting)


class Answer(NamedTuple, Generic[Part]):
    """What is published of a subject, and warnings about it."""

    part: Part
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained(Generic[Part]):
    """How a subject is explained: the type of what is published of it, what makes that, and what shows it as tables.

    `names` are those that completion offers. `answer` raises UnknownSubjectError.
    """

    document: type[Part]
    answer: Callable[[Inquiry], Answer[Part]]
    table: Callable[[Part, TableStyle], Iterator[str]]
    names: Callable[[], Iterable[str]] = tuple


def explained_by(subject: Subject) -> Explained[Any]:
    """How `subject` is explained; loads its module."""
    explained: Explained[Any] = import_module(subject.module).SUBJECT
    return explained
