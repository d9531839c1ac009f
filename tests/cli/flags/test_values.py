from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from descheduler.cli.flags.values import read_duration, read_feature_gates, read_instant, read_rate

CONTEXT = click.Context(click.Command("test"))
OPTION = click.Option(["--test"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2026-06-30T12:00:00Z", datetime(2026, 6, 30, 12, tzinfo=UTC), id="UTC"),
        pytest.param("2026-06-30t12:00:00z", datetime(2026, 6, 30, 12, tzinfo=UTC), id="small letters"),
        pytest.param("2026-06-30T14:00:00+02:00", datetime(2026, 6, 30, 12, tzinfo=UTC), id="another zone"),
        pytest.param(
            "2026-06-30T12:00:00.123456789Z", datetime(2026, 6, 30, 12, 0, 0, 123456, tzinfo=UTC), id="nanoseconds"
        ),
        pytest.param("2026-06-30T12:00:00.5Z", datetime(2026, 6, 30, 12, 0, 0, 500000, tzinfo=UTC), id="half a second"),
    ],
)
def test_instants_are_read_as_rfc_3339(text: str, expected: datetime) -> None:
    assert read_instant(CONTEXT, OPTION, text) == expected


def test_durations_are_read_as_go_does() -> None:
    assert read_duration(CONTEXT, OPTION, "1h30m") == timedelta(minutes=90)


def test_a_rate_of_zero_leaves_the_choice_to_the_policy() -> None:
    assert read_rate(CONTEXT, OPTION, 0.0) is None
    assert read_rate(CONTEXT, OPTION, 2.5) == 2.5


@pytest.mark.parametrize(
    ("texts", "is_on"),
    [
        pytest.param((), False, id="off unless asked for"),
        pytest.param(("EvictionsInBackground=true",), True, id="on when asked for"),
        pytest.param(("AllAlpha=true",), True, id="on with all of its kind"),
        pytest.param(("AllBeta=true",), False, id="not with another kind"),
        pytest.param(("AllAlpha=true,EvictionsInBackground=false",), False, id="its own switch wins"),
        pytest.param(("EvictionsInBackground=true", "EvictionsInBackground=false"), False, id="the last one counts"),
    ],
)
def test_feature_gates(texts: tuple[str, ...], is_on: bool) -> None:
    assert read_feature_gates(CONTEXT, OPTION, texts) == {"EvictionsInBackground": is_on}
