"""Plugin sla: jobs that wait for longer than they should come first, and are admitted."""

from __future__ import annotations

from datetime import datetime, timedelta

from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import ABSTAIN, PERMIT, Callbacks, as_before

__all__ = ["start"]

_WAITING_TIME = "sla-waiting-time"
_KEYS = (f"volcano.sh/{_WAITING_TIME}", _WAITING_TIME)
"""Annotations of a PodGroup, the legacy one last."""


def start(session: Session, option: PluginOption) -> Callbacks:
    """The order of jobs by the time at which their waiting ends, and a vote for those whose waiting has ended.

    Of a snapshot without a time nothing is known to have ended.
    """
    common = _waiting_time(option.arguments.text(_WAITING_TIME))
    now = session.cluster.snapshot.taken_at

    def ends_at(job: Job) -> datetime | None:
        stated = (_waiting_time(job.group.annotations.get(key, "")) for key in _KEYS)
        waiting_time = next((found for found in stated if found is not None), common)
        return None if waiting_time is None else job.created_at + waiting_time

    def order(left: Job, right: Job) -> float:
        first, second = ends_at(left), ends_at(right)
        if first is None or second is None:
            return (first is None) - (second is None)
        return (first > second) - (first < second)

    def vote(job: Job) -> int:
        end = ends_at(job)
        return PERMIT if end is not None and now is not None and end <= now else ABSTAIN

    return Callbacks(job_order=order, job_enqueueable=vote, job_pipelined=vote, reopen=as_before)


def _waiting_time(text: str) -> timedelta | None:
    """A duration above zero; None for any other text."""
    try:
        found = parse_duration(text)
    except ValueError:
        return None
    return found if found > timedelta(0) else None
