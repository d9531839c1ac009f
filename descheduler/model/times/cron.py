"""Cron expressions of five fields, read as CronJobs read them: when in local time something begins.

A CronJob's calendar is robfig/cron v3 (`parser.go`, `spec.go`). It differs from crontab(5) in when a day of the month
or of the week is enough: that depends on whether one of the two fields leaves its days open, see `_Numbers`. Beyond it
Sunday can be 7, and what it reads as no time at all, such as an empty list, is an error here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from descheduler.model.text.counted import counted

__all__ = ["Cron", "CronError", "parse_cron"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(?P<star>[*?])|(?P<first>[0-9a-z]+)(?:-(?P<last>[0-9a-z]+))?)(?:/(?P<step>[0-9]{1,3}))?\Z")
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


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
    if not text.isdecimal() or not field.lowest <= int(text[:4]) <= field.highest:
        raise CronError(f"{field.name} {text!r} is not between {field.lowest} and {field.highest}")
    return int(text)
