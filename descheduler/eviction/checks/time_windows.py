"""Profiles that may evict only at certain times (`windows` and `blackouts` of MigrationController)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.schedules import schedule_of, shown_time
from descheduler.eviction.request_check import PodByPod
from descheduler.model.time_windows import Schedule
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

__all__ = ["TimeWindowCheck"]


class TimeWindowCheck(PodByPod):
    """Refuses everything that a profile asks for while it may not evict at `now`, which holds for the whole run."""

    def __init__(self, profiles: Sequence[Profile], now: datetime) -> None:
        self._verdicts = [_verdict(profile, now) for profile in profiles]

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the profile may evict now."""
        del candidate
        return self._verdicts[bundle.profile_index] if self._verdicts else ACCEPTED


def _verdict(profile: Profile, now: datetime) -> Verdict:
    schedules = map(schedule_of, profile.args_of(MigrationControllerArgs, profile.evict))
    refusals = (_refusal(schedule, profile.name, now) for schedule in schedules if schedule is not None)
    return next((refusal for refusal in refusals if refusal is not None), ACCEPTED)


def _refusal(schedule: Schedule, profile: str, now: datetime) -> Verdict | None:
    blackout = schedule.blackout_at(now)
    if blackout is not None:
        message = f"profile {profile} evicts nothing during blackout {blackout}; {_next(schedule, now)}"
        return refuse(Reason.BLACKOUT, message, profile)
    if schedule.has_window_at(now):
        return None
    return refuse(Reason.WINDOW, f"profile {profile} is outside its windows; {_next(schedule, now)}", profile)


def _next(schedule: Schedule, now: datetime) -> str:
    opens_at = schedule.next_open(now)
    return "no window opens again" if opens_at is None else f"next evictions from {shown_time(opens_at, schedule.zone)}"
