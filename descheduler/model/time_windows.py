"""Recurring times: when a window is open, until when, and when evictions are possible next.

They begin by cron expressions of five fields, read as CronJobs read them. A CronJob's calendar is robfig/cron v3
(`parser.go`, `spec.go`). It differs from crontab(5) in when a day of the month or of the week is enough: that depends
on whether one of the two fields leaves its days open, see `_Numbers`. Beyond it Sunday can be 7, and what it reads as
no time at all, such as an empty list, is an error here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from descheduler.model.text.counted import counted
from descheduler.model.text.duration import format_duration
from descheduler.model.text.numbers import whole_number

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(?P<star>[*?])|(?P<first>[0-9a-z]+)(?:-(?P<last>[0-9a-z]+))?)(?:/(?P<step>[0-9]{1,3}))?\Z")
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LONGEST_WINDOW = timedelta(days=7)
_DAY = timedelta(days=1)
_MOST_DAYS = 8 * 366
"""February 29th comes after eight years at the latest."""
_MOST_STEPS = 500
"""Of a search among windows and blackouts that interrupt each other."""
_NO_END = timedelta(days=31)
"""Windows that run into each other for so long count as without end."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Opens whenever `cron` says so on the clocks of `zone`, for `duration`, which is time that passes.

    A time that the clocks skip is as much after the jump as it was to be after its begin; of a time that comes twice
    the first one counts. Raises ValueError for a duration that is not above 0 and at most `LONGEST_WINDOW`.
    """

    cron: Cron
    duration: timedelta
    zone: ZoneInfo

    def __post_init__(self) -> None:
        """Checks the duration."""
        if not timedelta(0) < self.duration <= LONGEST_WINDOW:
            raise ValueError(f"duration {format_duration(self.duration)} is not above 0 and at most 168h")

    def __str__(self) -> str:
        """As operators know it."""
        return f"{self.cron.text!r} ({format_duration(self.duration)}, {self.zone.key})"

    def open_until(self, at: datetime) -> datetime | None:
        """When the window that is open at `at` closes, those that it runs into included; None while it is closed.

        Of windows without end it is some time far ahead.
        """
        end = at
        while end - at <= _NO_END:
            opened_at = self._last_opening(end)
            if opened_at is None or opened_at + self.duration <= end:
                break
            end = opened_at + self.duration
        return end if end > at else None

    def next_opening(self, at: datetime) -> datetime | None:
        """The first opening after `at`; None when there is none in eight years."""
        first = at.astimezone(self.zone).date() - _DAY
        for number in range(_MOST_DAYS):
            openings = _openings_on(first + number * _DAY, self.cron, self.zone)
            if openings and openings[-1] > at:
                return openings[bisect_right(openings, at)]
        return None

    def _last_opening(self, at: datetime) -> datetime | None:
        """The last opening until `at`, as far back as a window can still be open."""
        day, first = (instant.astimezone(self.zone).date() for instant in (at + _DAY, at - self.duration - _DAY))
        while day >= first:
            openings = _openings_on(day, self.cron, self.zone)
            if openings and openings[0] <= at:
                return openings[bisect_right(openings, at) - 1]
            day -= _DAY
        return None


@lru_cache(maxsize=4096)
def _openings_on(day: date, cron: Cron, zone: ZoneInfo) -> tuple[datetime, ...]:
    """In order, since what the clocks skip comes after later times of the clock."""
    return tuple(sorted({local.replace(tzinfo=zone).astimezone(UTC) for local in cron.times_on(day)}))


@dataclass(frozen=True, slots=True)
class Opening:
    """A time in which evictions are possible; `until` is None where no end is in sight."""

    begins_at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """Evictions are possible while one of `windows` is open, always without any, except during `blackouts`."""

    windows: tuple[TimeWindow, ...] = ()
    blackouts: tuple[TimeWindow, ...] = ()

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the first window or blackout, for messages."""
        return next((window.zone for window in (*self.windows, *self.blackouts)), ZoneInfo("UTC"))

    def blackout_at(self, at: datetime) -> TimeWindow | None:
        """A blackout that `at` is in."""
        return next((blackout for blackout in self.blackouts if blackout.open_until(at) is not None), None)

    def has_window_at(self, at: datetime) -> bool:
        """Whether the windows let evictions happen, whatever the blackouts say."""
        return not self.windows or any(window.open_until(at) is not None for window in self.windows)

    def next_open(self, at: datetime) -> datetime | None:
        """The first time from `at` on at which evictions are possible; None when there is none in sight."""
        for _ in range(_MOST_STEPS):
            blackout = self.blackout_at(at)
            if blackout is not None:
                at = blackout.open_until(at) or at
            elif self.has_window_at(at):
                return at
            else:
                openings = [opening for window in self.windows if (opening := window.next_opening(at)) is not None]
                if not openings:
                    return None
                at = min(openings)
        return None

    def openings(self, at: datetime) -> Iterator[Opening]:
        """The times from `at` on in which evictions are possible, the present one first."""
        begins_at = self.next_open(at)
        while begins_at is not None:
            until = self._closes_after(begins_at)
            yield Opening(begins_at, until)
            begins_at = None if until is None else self.next_open(until)

    def _closes_after(self, at: datetime) -> datetime | None:
        """When evictions are no longer possible that are so at `at`; None where no end is in sight."""
        begins = (blackout.next_opening(at) for blackout in self.blackouts)
        first_blackout = min((begin for begin in begins if begin is not None), default=None)
        end = self._windows_close_after(at)
        known = [instant for instant in (end, first_blackout) if instant is not None]
        return min(known, default=None)

    def _windows_close_after(self, at: datetime) -> datetime | None:
        """When no window is open any more, windows that run into each other taken together."""
        end = at
        while self.windows and end - at <= _NO_END:
            ends = [until for window in self.windows if (until := window.open_until(end)) is not None]
            if not ends:
                return end
            end = max(ends)
        return None


class CronError(ValueError):
    """Text that is no cron expression; the message says what is wrong with which field."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One place of an expression: its bounds, and names for numbers from `lowest` on."""

    name: str
    lowest: int
    highest: int
    names: Sequence[str] = ()

    @property
    def end(self) -> int:
        """Where `*` and steps end. A week ends on Saturday, 6: 7 is Sunday, with which it begins."""
        return 6 if self.names is _WEEKDAYS else self.highest


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """When something begins, in local time. Weekdays count from Sunday, 0.

    With `is_either_day` a day of the month or of the week is enough, as it is where both fields are restricted.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_either_day: bool

    def begins_on(self, day: date) -> bool:
        """Whether it begins on `day` at all."""
        is_day, is_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        matches = is_day or is_weekday if self.is_either_day else is_day and is_weekday
        return matches and day.month in self.months

    def times_on(self, day: date) -> Iterator[datetime]:
        """The local times of `day`, without a zone, in order."""
        if self.begins_on(day):
            yield from (datetime.combine(day, time(hour, minute)) for hour in self.hours for minute in self.minutes)


def parse_cron(text: str) -> Cron:
    """The expression in `text`. Raises CronError for anything else, macros such as `@daily` and seconds included."""
    parts = text.split()
    if len(parts) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise CronError(f"{text!r} has {counted(len(parts), 'field')}; write five: {names}")
    minutes, hours, days, months, weekdays = (_numbers(part, field) for part, field in zip(parts, _FIELDS, strict=True))
    is_either_day = not days.is_open and not weekdays.is_open
    if not is_either_day and not _has_date(days.numbers, months.numbers):
        raise CronError(f"{text!r} never begins: no such month has such a day")
    return Cron(
        text,
        tuple(sorted(minutes.numbers)),
        tuple(sorted(hours.numbers)),
        days.numbers,
        months.numbers,
        frozenset(weekday % 7 for weekday in weekdays.numbers),
        is_either_day,
    )


def _has_date(days: Iterable[int], months: Iterable[int]) -> bool:
    return any(day <= _DAYS_OF_MONTH[month - 1] for day in days for month in months)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What a field lists.

    `is_open` is the star bit of robfig/cron: the list has a `*` or `?`, at most with the step 1. A longer step
    restricts: `*/2` as a day of the month and Monday are either the one or the other.
    """

    numbers: frozenset[int]
    is_open: bool


def _numbers(text: str, field: _Field) -> _Numbers:
    ranges = [_range(part, field) for part in text.split(",")]
    return _Numbers(
        frozenset(number for each in ranges for number in each.numbers), any(each.is_open for each in ranges)
    )


def _range(part: str, field: _Field) -> _Numbers:
    found = _PART.match(part.lower())
    if found is None:
        raise CronError(f"{field.name} {part!r} is not a number, a range, a step such as */5, or a list of these")
    step = int(found["step"] or 1)
    first, last = _ends(found, field)
    if not step:
        raise CronError(f"{field.name} {part!r} has a step of 0")
    if last < first:
        raise CronError(f"{field.name} {part!r} ends before it begins")
    return _Numbers(frozenset(range(first, last + 1, step)), is_open=bool(found["star"]) and step == 1)


def _ends(found: re.Match[str], field: _Field) -> tuple[int, int]:
    """The first and the last number that a part can have; without an end it goes to the end of the field."""
    if found["star"]:
        return field.lowest, field.end
    first = _number(found["first"], field)
    if found["last"] is not None:
        return first, _number(found["last"], field)
    return first, field.end if found["step"] else first


def _number(text: str, field: _Field) -> int:
    if text in field.names:
        return field.lowest + field.names.index(text)
    number = whole_number(text)
    if number is None or not field.lowest <= number <= field.highest:
        raise CronError(f"{field.name} {text!r} is not between {field.lowest} and {field.highest}")
    return number
