"""Plugin tdm: nodes of a revocable zone take tasks that can be revoked, at the hours of the zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from descheduler.model.groups.volcano import PREEMPTABLE_KEY, JobBudget, is_switched_on
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, REJECT, UNRESOLVABLE, Callbacks, NodeCodes, Victims

_ZONE = "volcano.sh/revocable-zone"
_ARGUMENT = "tdm.revocable-zone."
_ANY = "*"
"""The only value of the annotation that counts."""
_HOURS = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*", re.ASCII)
_MOST = 100.0
_WITHOUT_BUDGET = 1
"""Tasks of a job that states no budget, or runs fewer than it states, that may go at once."""


def start(session: Session, option: PluginOption) -> Callbacks:
    """The filter and the score of nodes of a zone, and victims on all other nodes.

    Hours are those of UTC. Of a snapshot without a time every zone is open.
    """
    in_zone, is_open = session.kept("tdm", lambda: _zones(session, option))

    def predicate(task: Task) -> NodeCodes:
        refused = in_zone if not _is_revocable(task) else in_zone & ~is_open
        return np.where(refused, UNRESOLVABLE, OPEN).astype(np.int8)

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        return np.where(in_zone & is_open & _is_revocable(task), _MOST, 0.0)

    def preemptable(initiator: Task, candidates: Sequence[Task]) -> Victims:
        if is_switched_on(_stated(initiator), default=False) or _is_revocable(initiator):
            return Victims((), REJECT)
        left: dict[str, int] = {}
        victims = []
        for task in candidates:
            job = session.job_of(task)
            may_go = task.status is Status.RUNNING and task.is_preemptable and not in_zone[task.node]
            if may_go and left.setdefault(job.id, _most_victims(job)) > 0:
                left[job.id] -= 1
                victims.append(task)
        return Victims(victims)

    return Callbacks(
        job_order=lambda left, right: _is_preemptable(left) - _is_preemptable(right),
        job_starving=lambda job: not _is_preemptable(job) and bool(job.counts[Status.PENDING]),
        predicate=predicate,
        node_order=score,
        preemptable=preemptable,
    )


def _zones(session: Session, option: PluginOption) -> tuple[BoolMask, BoolMask]:
    """Which nodes are in a zone, and which of them take tasks now."""
    now, values = session.cluster.snapshot.taken_at, option.arguments.values
    hours = {key.removeprefix(_ARGUMENT): str(text) for key, text in values.items() if key.startswith(_ARGUMENT)}
    zones = [node.labels.get(_ZONE, "") for node in session.cluster.table.nodes]
    is_open = {zone: now is None or _is_open(hours.get(zone, ""), now) for zone in {*zones}}
    return np.array([bool(zone) for zone in zones], dtype=bool), np.array([is_open[zone] for zone in zones], dtype=bool)


def _is_open(text: str, now: datetime) -> bool:
    """Whether the hours `9:00-17:00` have come today; an end that is no later than the start is that of tomorrow."""
    found = _HOURS.fullmatch(text)
    if found is None:
        return False
    first, last = (timedelta(hours=int(found[place]), minutes=int(found[place + 1])) for place in (1, 3))
    since = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    return first <= since <= (last if last > first else last + timedelta(days=1))


def _stated(task: Task) -> str | None:
    return task.pod.annotations.get(PREEMPTABLE_KEY, task.pod.labels.get(PREEMPTABLE_KEY))


def _is_revocable(task: Task) -> bool:
    """What the annotation says; without it what the task says of preemption."""
    zone = task.pod.annotations.get(_ZONE)
    return zone == _ANY if zone is not None else is_switched_on(_stated(task), default=False)


def _is_preemptable(job: Job) -> bool:
    group = job.group
    return is_switched_on(group.annotations.get(PREEMPTABLE_KEY, group.labels.get(PREEMPTABLE_KEY)), default=False)


def _most_victims(job: Job) -> int:
    """The tasks of `job` that may go at once, by the budget of its PodGroup."""
    budget = JobBudget.of(job.group)
    num_done = job.counts[Status.SUCCEEDED] + job.counts[Status.FAILED]
    if budget is None:
        return _WITHOUT_BUDGET
    found = budget.num_allowed(len(job.tasks), num_done, job.counts[Status.RUNNING])
    return _WITHOUT_BUDGET if found < 0 and budget.is_minimum else max(0, found)
