"""Windows and blackouts: open when, until when, and again when; also while clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.model.time_windows import Schedule, TimeWindow, parse_cron

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)


def window(cron: str, hours: float, zone: ZoneInfo = BERLIN) -> TimeWindow:
    """A window of so many hours."""
    return TimeWindow(parse_cron(cron), timedelta(hours=hours), zone)


def berlin(text: str) -> datetime:
    """An instant by the clocks of Berlin, the first of two."""
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC)


def times(schedule: Schedule, at: datetime, number: int = 2) -> list[tuple[str, str | None]]:
    """The next openings in UTC."""
    found = islice(schedule.openings(at), number)
    return [
        (f"{each.begins_at:%m-%d %H:%M}", None if each.until is None else f"{each.until:%m-%d %H:%M}") for each in found
    ]


NIGHTS = Schedule((window("0 22 * * *", 8),))


def test_window_past_midnight_is_open_until_the_morning() -> None:
    assert NIGHTS.has_window_at(berlin("2026-06-02T05:59"))
    assert not NIGHTS.has_window_at(berlin("2026-06-02T06:00"))
    assert NIGHTS.next_open(berlin("2026-06-02T06:00")) == berlin("2026-06-02T22:00")


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        pytest.param("2026-06-01T12:00", ("06-01 20:00", "06-02 04:00"), id="in summer"),
        pytest.param("2026-01-01T12:00", ("01-01 21:00", "01-02 05:00"), id="in winter"),
        pytest.param("2026-03-28T12:00", ("03-28 21:00", "03-29 05:00"), id="the night that lacks an hour ends later"),
        pytest.param("2026-10-24T12:00", ("10-24 20:00", "10-25 04:00"), id="the night that has one more ends earlier"),
    ],
)
def test_window_opens_by_the_clocks_and_lasts_as_long_as_it_says(day: str, expected: tuple[str, str]) -> None:
    assert times(NIGHTS, berlin(day), 1) == [expected]


def test_opening_in_the_hour_that_is_skipped_comes_after_the_jump() -> None:
    schedule = Schedule((window("30 2 * * *", 1),))

    assert times(schedule, berlin("2026-03-28T12:00"), 1) == [("03-29 01:30", "03-29 02:30")]


def test_opening_in_the_hour_that_comes_twice_is_the_first() -> None:
    schedule = Schedule((window("30 2 * * *", 0.5),))

    assert times(schedule, berlin("2026-10-24T12:00")) == [
        ("10-25 00:30", "10-25 01:00"),
        ("10-26 01:30", "10-26 02:00"),
    ]


def test_blackout_cuts_a_window() -> None:
    schedule = Schedule((window("0 8 * * *", 8, ZoneInfo("UTC")),), (window("0 10 * * *", 2, ZoneInfo("UTC")),))
    at = datetime(2026, 6, 1, tzinfo=UTC)

    assert times(schedule, at, 3) == [
        ("06-01 08:00", "06-01 10:00"),
        ("06-01 12:00", "06-01 16:00"),
        ("06-02 08:00", "06-02 10:00"),
    ]


def test_without_windows_evictions_are_possible_but_in_blackouts() -> None:
    schedule = Schedule(blackouts=(window("0 10 * * *", 2, ZoneInfo("UTC")),))
    at = datetime(2026, 6, 1, 11, tzinfo=UTC)

    assert schedule.blackout_at(at) is schedule.blackouts[0]
    assert times(schedule, at, 1) == [("06-01 12:00", "06-02 10:00")]


def test_windows_that_run_into_each_other_are_one() -> None:
    schedule = Schedule((window("0 8 * * *", 3, ZoneInfo("UTC")), window("0 10 * * *", 3, ZoneInfo("UTC"))))

    assert times(schedule, datetime(2026, 6, 1, tzinfo=UTC), 1) == [("06-01 08:00", "06-01 13:00")]


def test_window_that_always_is_open_has_no_end() -> None:
    schedule = Schedule((window("* * * * *", 1),))

    assert times(schedule, datetime(2026, 6, 1, tzinfo=UTC)) == [("06-01 00:00", None)]


def test_blackout_that_never_ends_leaves_no_opening() -> None:
    schedule = Schedule(blackouts=(window("0 0 * * *", 24, ZoneInfo("UTC")),))

    assert times(schedule, datetime(2026, 6, 1, tzinfo=UTC)) == []


@pytest.mark.parametrize("hours", [0, -1, 169])
def test_duration_has_bounds(hours: float) -> None:
    with pytest.raises(ValueError, match="is not above 0 and at most 168h"):
        window("0 0 * * *", hours)


_CRONS = st.sampled_from(["0 22 * * *", "*/20 8-10 * * 1-5", "30 2 * * *", "0 0 1 * 0", "15 */6 */2 * *"])
_WINDOWS = st.builds(
    window, _CRONS, st.sampled_from([0.25, 2, 8, 30]), st.sampled_from([BERLIN, ZoneInfo("America/New_York")])
)
_AT = st.sampled_from(["2026-03-28T12:00", "2026-10-24T12:00", "2026-06-01T00:00", "2026-11-01T00:00"]).map(berlin)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(st.lists(_WINDOWS, max_size=2), st.lists(_WINDOWS, max_size=2), _AT)
def test_evictions_are_possible_in_openings_and_not_between_them(
    windows: list[TimeWindow], blackouts: list[TimeWindow], at: datetime
) -> None:
    schedule = Schedule(tuple(windows), tuple(blackouts))

    openings = list(islice(schedule.openings(at), 4))

    last = at
    for opening in openings:
        until = opening.until or opening.begins_at + timedelta(days=1)
        middle = opening.begins_at + (until - opening.begins_at) / 2
        assert all(_is_possible(schedule, each) for each in (opening.begins_at, middle, until - MINUTE))
        assert opening.until is None or not _is_possible(schedule, until)
        assert last == opening.begins_at or not _is_possible(schedule, last + (opening.begins_at - last) / 2)
        last = until


def _is_possible(schedule: Schedule, at: datetime) -> bool:
    return schedule.blackout_at(at) is None and schedule.has_window_at(at)


def test_windows_of_a_whole_month_have_an_end() -> None:
    every_day = window("0 0 * 1,3-12 *", 24, ZoneInfo("UTC"))
    new_year, february = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)

    assert every_day.open_until(new_year) == february
    assert times(Schedule((every_day,)), new_year, 1) == [("01-01 00:00", "02-01 00:00")]


def test_window_opens_again_after_its_opening_and_not_at_it() -> None:
    nightly, opening = window("0 22 * * *", 8), berlin("2026-06-02T22:00")

    assert nightly.next_opening(opening - MINUTE) == opening
    assert nightly.next_opening(opening) == opening + timedelta(days=1)


def test_window_is_open_from_its_opening_until_it_closes() -> None:
    nightly, opening = window("0 22 * * *", 8), berlin("2026-06-02T22:00")
    end = opening + timedelta(hours=8)

    found = [nightly.open_until(at) for at in (opening - MINUTE, opening, end - MINUTE, end)]

    assert found == [None, end, end, None]


def test_window_of_a_leap_day_opens_after_years() -> None:
    leap_day = window("0 0 29 2 *", 1, ZoneInfo("UTC"))

    assert leap_day.next_opening(datetime(2096, 3, 1, tzinfo=UTC)) == datetime(2104, 2, 29, tzinfo=UTC)
    assert leap_day.next_opening(datetime(2096, 2, 29, tzinfo=UTC)) == datetime(2104, 2, 29, tzinfo=UTC)


def test_longest_window_is_a_week() -> None:
    weekly = window("0 0 * * 1", 168, ZoneInfo("UTC"))

    assert str(weekly) == "'0 0 * * 1' (168h0m0s, UTC)"
    assert Schedule(blackouts=(weekly,)).zone.key == "UTC"
    assert Schedule().zone.key == "UTC"
    assert NIGHTS.zone is BERLIN
