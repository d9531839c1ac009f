"""Go durations (`1h30m`, `500ms`) in both directions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_UNITS = "|".join(_NANOSECONDS)
_PART = re.compile(rf"([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)({_UNITS})")
"""Never looks at a digit again: tenants write durations into annotations, as long as these can be."""
_MOST_DIGITS = 4000
"""Python reads no more than 4,300 at a time; this many are more than any duration, or finer than a nanosecond."""
DURATION_PATTERN = rf"^[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)({_UNITS}))+)$"
"""What `parse_duration` reads, apart from durations that are too long."""


def parse_duration(text: str) -> timedelta:
    """The duration that Go's `time.ParseDuration` reads from `text`, to the microsecond.

    Raises ValueError on a missing unit, an unknown one, or anything beyond 292 years.
    """
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if body == "0":
        return timedelta(0)
    total, position = Fraction(0), 0
    while position < len(body) or not body:
        match = _PART.match(body, position)
        if match is None:
            raise ValueError(f"{text[:80]!r} is not a duration: write a number with a unit, such as 90s, 5m or 1h30m")
        total += Fraction(match[1][:_MOST_DIGITS]) * _NANOSECONDS[match[2]]
        position = match.end()
    if total >= 2**63:
        raise ValueError(f"{text[:80]!r} is longer than the longest possible duration (292 years)")
    return timedelta(microseconds=sign * int(total // 1000))


def format_duration(duration: timedelta) -> str:
    """`duration` in Go syntax, such as `1h30m0s`; the inverse of `parse_duration`."""
    microseconds = duration // timedelta(microseconds=1)
    sign, microseconds = ("-", -microseconds) if microseconds < 0 else ("", microseconds)
    seconds, rest = divmod(microseconds, 10**6)
    if seconds == 0 and rest:
        return f"{sign}{rest}µs" if rest < 1000 else f"{sign}{rest // 1000}{_decimals(rest % 1000, 3)}ms"
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    fraction = _decimals(rest, 6)
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}{fraction}s"
    return f"{sign}{minutes}m{seconds}{fraction}s" if minutes else f"{sign}{seconds}{fraction}s"


def later(start: datetime, duration: timedelta) -> datetime:
    """`start`, which is UTC, and so much later; the first or last instant there is where that is beyond it."""
    try:
        return start + duration
    except OverflowError:
        end = datetime.min if duration.days < 0 else datetime.max
        return end.replace(tzinfo=UTC)


def _decimals(rest: int, width: int) -> str:
    """`rest`, so many digits wide, as what follows the whole number; nothing when it is 0."""
    return f".{rest:0{width}d}".rstrip("0") if rest else ""
