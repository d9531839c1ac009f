"""Cron expressions of five fields, as crontab(5) and CronJobs have them: when in local time something begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from descheduler.model.text.counted import counted

__all__ = ["Cron", "CronError", "parse_cron"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(?P<star>\*)|(?P<first>[0-9a-z]+)(?:-(?P<last>[0-9a-z]+))?)(?:/(?P<step>[0-9]{1,3}))?\Z")
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

    With `is_either_day` a day of the month or of the week is enough, as it is where both are restricted.
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
    is_either_day = not parts[2].startswith("*") and not parts[4].startswith("*")
    if not is_either_day and not any(day <= _DAYS_OF_MONTH[month - 1] for day in days for month in months):
        raise CronError(f"{text!r} never begins: no such month has such a day")
    return Cron(
        text,
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        days,
        months,
        frozenset(weekday % 7 for weekday in weekdays),
        is_either_day,
    )


def _numbers(text: str, field: _Field) -> frozenset[int]:
    return frozenset(number for part in text.split(",") for number in _range(part, field))


def _range(part: str, field: _Field) -> range:
    found = _PART.match(part.lower())
    if found is None:
        raise CronError(f"{field.name} {part!r} is not a number, a range, a step such as */5, or a list of these")
    step = int(found["step"] or 1)
    if found["star"]:
        first, last = field.lowest, min(field.highest, 6) if field.names is _WEEKDAYS else field.highest
    else:
        first = _number(found["first"], field)
        alone = field.highest if found["step"] else first
        last = alone if found["last"] is None else _number(found["last"], field)
    if not step or last < first:
        raise CronError(f"{field.name} {part!r} is empty")
    return range(first, last + 1, step)


def _number(text: str, field: _Field) -> int:
    if text in field.names:
        return field.lowest + field.names.index(text)
    if not text.isdecimal() or not field.lowest <= int(text[:4]) <= field.highest:
        raise CronError(f"{field.name} {text!r} is not between {field.lowest} and {field.highest}")
    return int(text)
