"""Recurring times: when a window is open, until when, and when evictions are possible next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from descheduler.model.text.duration import format_duration
from descheduler.model.times.cron import Cron

__all__ = ["LONGEST_WINDOW", "Opening", "Schedule", "TimeWindow"]

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
