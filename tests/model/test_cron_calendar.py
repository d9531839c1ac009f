"""Random cron expressions against the rules of robfig/cron v3, the calendar of CronJobs, stated once more."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest

from descheduler.model.time_windows import CronError, parse_cron

pytestmark = pytest.mark.long

_NUM_EXPRESSIONS = 6_000
_LEAP_YEAR = [date(2028, 1, 1) + timedelta(days=number) for number in range(366)]
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_NAMES = {
    3: ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    4: ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
}


def test_random_expressions_begin_when_the_calendar_of_cronjobs_says() -> None:
    random = Random(1)
    expressions = [_expression(random) for _ in range(_NUM_EXPRESSIONS)]

    differing = [text for text in expressions if _read(text) != _stated(text)]

    assert differing == []


def _read(text: str) -> tuple[list[int], list[int], list[date]] | None:
    """The minutes, hours and days of a year on which it begins by the code under test; None where it never does."""
    try:
        cron = parse_cron(text)
    except CronError as error:
        if "never begins" not in str(error):
            raise
        return None
    return list(cron.minutes), list(cron.hours), [day for day in _LEAP_YEAR if cron.begins_on(day)]


def _stated(text: str) -> tuple[list[int], list[int], list[date]] | None:
    """The same by the rules: both days have to match where one of the fields has a star, else one of them."""
    fields = text.split()
    minutes, hours, days, months, weekdays = (
        [number for number in range(low, high + 1) if _lists(fields[place], number, place)]
        for place, (low, high) in enumerate(_BOUNDS)
    )
    combine = all if _has_star(fields[2]) or _has_star(fields[4]) else any
    begins_on = [
        day
        for day in _LEAP_YEAR
        if day.month in months and combine((day.day in days, (day.weekday() + 1) % 7 in weekdays))
    ]
    return (minutes, hours, begins_on) if begins_on else None


def _has_star(field: str) -> bool:
    return any(part in {"*", "?", "*/1", "?/1"} for part in field.split(","))


def _lists(field: str, number: int, place: int) -> bool:
    """Whether a field has `number`: in a range, and a multiple of the step from its begin."""
    low, high = _BOUNDS[place]
    for part in field.split(","):
        ends, _, step = part.partition("/")
        begin, _, end = ends.partition("-")
        first = low if begin in {"*", "?"} else _value(begin, place)
        last = high if begin in {"*", "?"} or (step and not end) else _value(end or begin, place)
        if first <= number <= last and (number - first) % int(step or 1) == 0:
            return True
    return False


def _value(text: str, place: int) -> int:
    names = _NAMES.get(place, ())
    return names.index(text.lower()) + _BOUNDS[place][0] if text.lower() in names else int(text)


def _expression(random: Random) -> str:
    return " ".join(_field(random, place) for place in range(len(_BOUNDS)))


def _field(random: Random, place: int) -> str:
    num_parts = random.choice((1, 1, 1, 2, 3))
    return ",".join(_part(random, place) for _ in range(num_parts))


def _part(random: Random, place: int) -> str:
    first, last = sorted(random.randint(*_BOUNDS[place]) for _ in range(2))
    ends = random.choice(("*", "*", "?", _shown(random, first, place), f"{first}-{_shown(random, last, place)}"))
    return f"{ends}/{random.choice((1, 2, 3, 7, 15, 40))}" if random.random() < 0.4 else ends


def _shown(random: Random, number: int, place: int) -> str:
    """The number or, in fields that have names, often its name in some case."""
    if place not in _NAMES or random.random() < 0.5:
        return str(number)
    name = _NAMES[place][number - _BOUNDS[place][0]]
    return random.choice((name, name.upper(), name.title()))
