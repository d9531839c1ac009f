"""Cron expressions of five fields."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from descheduler.model.time_windows import CronError, parse_cron


@pytest.mark.parametrize(
    ("text", "days"),
    [
        pytest.param("0 0 * * *", list(range(1, 31)), id="every day"),
        pytest.param("0 0 13 * *", [13], id="a day of the month"),
        pytest.param(
            "0 0 * * 1-5", [*range(1, 6), *range(8, 13), *range(15, 20), *range(22, 27), 29, 30], id="weekdays"
        ),
        pytest.param("0 0 * * sat,SUN", [6, 7, 13, 14, 20, 21, 27, 28], id="names of days, in any case"),
        pytest.param("0 0 * * 7", [7, 14, 21, 28], id="7 is Sunday too"),
        pytest.param("0 0 13 * 1", [1, 8, 13, 15, 22, 29], id="either day where both are restricted"),
        pytest.param("0 0 */10 * *", [1, 11, 21], id="steps"),
        pytest.param("0 0 */10 * 1", [1, 8, 11, 15, 21, 22, 29], id="a step restricts: either day"),
        pytest.param("0 0 10 * */4", [4, 7, 10, 11, 14, 18, 21, 25, 28], id="a step of weekdays restricts: either day"),
        pytest.param("0 0 */1 * 1", [1, 8, 15, 22, 29], id="a step of 1 leaves the days open"),
        pytest.param("0 0 ? * 1", [1, 8, 15, 22, 29], id="? is *"),
        pytest.param("0 0 13,* * 1", [1, 8, 15, 22, 29], id="a list with * leaves the days open"),
        pytest.param("0 0 */10,* * 1", [1, 8, 15, 22, 29], id="so it does beside a step"),
        pytest.param("0 0 * * 1/2", [1, 3, 5, 8, 10, 12, 15, 17, 19, 22, 24, 26, 29], id="steps end on Saturday"),
        pytest.param("0 0 25/2 * *", [25, 27, 29], id="steps from a day on"),
        pytest.param("0 0 1 jul-dec *", [], id="names of months"),
    ],
)
def test_days_on_which_it_begins(text: str, days: list[int]) -> None:
    """In June 2026, whose first is a Monday."""
    cron = parse_cron(text)

    assert [day for day in range(1, 31) if cron.begins_on(date(2026, 6, day))] == days


def test_times_of_a_day() -> None:
    times = list(parse_cron("*/30 8-9 * * *").times_on(date(2026, 6, 1)))

    assert times == [datetime(2026, 6, 1, hour, minute) for hour in (8, 9) for minute in (0, 30)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "@daily",
            "'@daily' has 1 field; write five: minute, hour, day of month, month, day of week",
            id="a macro",
        ),
        pytest.param(
            "0 0 0 * * *",
            "'0 0 0 * * *' has 6 fields; write five: minute, hour, day of month, month, day of week",
            id="seconds",
        ),
        pytest.param("60 * * * *", "minute '60' is not between 0 and 59", id="above its bound"),
        pytest.param("0 0 0 * *", "day of month '0' is not between 1 and 31", id="below its bound"),
        pytest.param("00099 * * * *", "minute '00099' is not between 0 and 59", id="above its bound behind zeros"),
        pytest.param(
            f"0 {'9' * 5000} * * *", f"hour '{'9' * 5000}' is not between 0 and 23", id="more digits than Python reads"
        ),
        pytest.param("0 0 * * fry", "day of week 'fry' is not between 0 and 7", id="no name of a day"),
        pytest.param("5-1 * * * *", "minute '5-1' ends before it begins", id="an empty range"),
        pytest.param("*/0 * * * *", "minute '*/0' has a step of 0", id="no step"),
        pytest.param(
            "x! * * * *", "minute 'x!' is not a number, a range, a step such as */5, or a list of these", id="signs"
        ),
        pytest.param("0 0 31 2,4 *", "'0 0 31 2,4 *' never begins: no such month has such a day", id="February 31st"),
    ],
)
def test_other_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(CronError) as error:
        parse_cron(text)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "minutes", "hours"),
    [
        pytest.param("00005 007 * * *", (5,), (7,), id="leading zeros"),
        pytest.param("59 23 * * *", (59,), (23,), id="the last minute of the day"),
        pytest.param(
            "50/3 20-22/2 * * *", (50, 53, 56, 59), (20, 22), id="steps to the end of the field and of a range"
        ),
    ],
)
def test_numbers_of_a_field(text: str, minutes: tuple[int, ...], hours: tuple[int, ...]) -> None:
    cron = parse_cron(text)

    assert (cron.minutes, cron.hours) == (minutes, hours)
