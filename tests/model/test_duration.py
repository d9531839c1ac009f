"""Go durations in both directions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.text.duration import format_duration, later, parse_duration
from tests.builders import NOW

FIRST, LAST = (each.replace(tzinfo=UTC) for each in (datetime.min, datetime.max))
LONGEST = timedelta(microseconds=(2**63 - 1) // 1000)


@given(st.timedeltas(min_value=-LONGEST, max_value=LONGEST))
def test_parsing_what_was_formatted_is_the_identity(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0", timedelta(0)),
        ("90s", timedelta(seconds=90)),
        ("1h30m", timedelta(minutes=90)),
        ("-1.5h", timedelta(minutes=-90)),
        (".5s", timedelta(milliseconds=500)),
        ("+5m", timedelta(minutes=5)),
        ("1m1m", timedelta(minutes=2)),
        ("100us", timedelta(microseconds=100)),
        ("100µs", timedelta(microseconds=100)),
        ("999ns", timedelta(0)),
    ],
)
def test_spelling_means_what_go_reads(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize("text", ["", "5", "1d", "1h 5m", "h", "-", "5m-3s", "١s", "300000h99999999h"])
def test_what_is_no_duration_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="duration") as caught:
        parse_duration(text)

    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(hours=1, minutes=30), "1h30m0s"),
        (timedelta(seconds=-90), "-1m30s"),
        (timedelta(milliseconds=1500), "1.5s"),
        (timedelta(milliseconds=5), "5ms"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(microseconds=7), "7µs"),
    ],
)
def test_durations_are_written_as_go_writes_them(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


@pytest.mark.parametrize(
    ("start", "duration", "expected"),
    [
        pytest.param(NOW, timedelta(hours=1), NOW + timedelta(hours=1), id="an hour"),
        pytest.param(LAST, timedelta(hours=1), LAST, id="a little beyond the last instant"),
        pytest.param(NOW, timedelta.max, LAST, id="far beyond the last instant"),
        pytest.param(FIRST, timedelta(microseconds=-1), FIRST, id="before the first instant"),
    ],
)
def test_later_ends_with_the_instants_that_there_are(start: datetime, duration: timedelta, expected: datetime) -> None:
    assert later(start, duration) == expected


def test_longest_duration_is_that_of_go() -> None:
    assert parse_duration(f"{2**63 - 1}ns") == LONGEST
    with pytest.raises(ValueError, match="292 years"):
        parse_duration(f"{2**63}ns")


@pytest.mark.parametrize(
    "text", ["1" * 250_000, "1" * 250_000 + "x", "." + "1" * 250_000, "1." + "1" * 250_000 + "x", "1s" * 50_000 + "x"]
)
def test_long_text_without_a_unit_is_refused_at_once(text: str) -> None:
    """As long as an annotation can be; looking at its digits again and again took minutes."""
    with pytest.raises(ValueError, match="is not a duration") as caught:
        parse_duration(text)

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "duration"),
    [("0." + "0" * 5000 + "1s", timedelta(0)), ("1." + "5" * 5000 + "s", timedelta(microseconds=1555555))],
)
def test_more_places_than_python_reads_are_left_out(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


def test_more_digits_than_python_reads_are_too_long() -> None:
    with pytest.raises(ValueError, match="292 years"):
        parse_duration("9" * 5000 + "ns")
