"""`windows` and `blackouts` of a MigrationController: when its profile may evict, in words for operators too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs, TimeWindowArgs
from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.eviction.request_check import PodByPod
from descheduler.model.time_windows import Opening, Schedule, TimeWindow, parse_cron
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Policy, Profile

_MOST_SHOWN = 3


def schedule_of(args: MigrationControllerArgs) -> Schedule | None:
    """The schedule of arguments that are valid; None where they state none."""
    if not args.windows and not args.blackouts:
        return None
    return Schedule(tuple(map(_window, args.windows)), tuple(map(_window, args.blackouts)))


def opening_lines(policy: Policy, now: datetime) -> Iterator[str]:
    """For each profile with a schedule when it may evict from `now` on, a line a time."""
    for name, args in migration_controllers(policy).items():
        schedule = schedule_of(args)
        if schedule is None:
            continue
        found = list(islice(schedule.openings(now), _MOST_SHOWN))
        yield f"profile {name} evicts {'at these times' if found else 'never (windows, blackouts)'}"
        yield from (f"  {_shown_opening(opening, schedule.zone, now)}" for opening in found)


class Closing(msgspec.Struct, frozen=True):
    """When a profile that may evict has to end that, and the sentence that says why."""

    at: datetime
    why: str


def closings(policy: Policy, now: datetime) -> Mapping[str, Closing]:
    """When each profile that may evict at `now` may do so no longer, by name; profiles that always may are left out."""
    found = ((name, _closing(name, schedule_of(args), now)) for name, args in migration_controllers(policy).items())
    return {name: closing for name, closing in found if closing is not None}


def _closing(profile: str, schedule: Schedule | None, now: datetime) -> Closing | None:
    opening = None if schedule is None else next(schedule.openings(now), None)
    if schedule is None or opening is None or opening.begins_at > now or opening.until is None:
        return None
    at = opening.until
    blackout = schedule.blackout_at(at)
    cause = "its windows closed" if blackout is None else f"blackout {blackout} began"
    said = f"profile {profile} evicts nothing more: {cause} at {shown_time(at, schedule.zone)}"
    opens_at = schedule.next_open(at)
    if opens_at is None:
        return Closing(at, f"{said}; no window opens again")
    return Closing(at, f"{said}; runs from {shown_time(opens_at, schedule.zone)} on decide again")


def shown_time(at: datetime, zone: ZoneInfo) -> str:
    """To the minute, on the clocks of `zone`."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M} {zone.key}"


def _shown_opening(opening: Opening, zone: ZoneInfo, now: datetime) -> str:
    begin = "now" if opening.begins_at == now else shown_time(opening.begins_at, zone)
    return f"{begin} - {'always' if opening.until is None else shown_time(opening.until, zone)}"


def zone_named(name: str) -> ZoneInfo:
    """The zone, UTC for "". Raises ValueError when there is none of this name."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone; use a name such as Europe/Berlin or UTC") from error


def _window(args: TimeWindowArgs) -> TimeWindow:
    return TimeWindow(parse_cron(args.cron), args.duration, zone_named(args.time_zone))


class TimeWindowCheck(PodByPod):
    """Refuses everything that a profile asks for while it may not evict at `now`, which holds for the whole run."""

    def __init__(self, profiles: Sequence[Profile], now: datetime) -> None:
        self._verdicts = [_verdict(profile, now) for profile in profiles]

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the profile may evict now."""
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
