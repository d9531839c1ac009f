from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from descheduler.cli.flags.values import (
    file_source,
    input_path,
    read_duration,
    read_feature_gates,
    read_file_name,
    read_input_name,
    read_input_names,
    read_instant,
    read_kube_version,
    read_output_name,
    read_rate,
)

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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-06-30", id="no time"),
        pytest.param("2026-06-30T12:00:00", id="no zone"),
        pytest.param("2026-13-01T12:00:00Z", id="a thirteenth month"),
        pytest.param("0001-01-01T00:00:00+01:00", id="before the first year"),
        pytest.param("now", id="a word"),
        pytest.param("\u0662026-06-30T12:00:00Z", id="digits of another script"),
    ],
)
def test_text_that_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time with a zone"):
        read_instant(CONTEXT, OPTION, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0s", "is not above zero"),
        ("-1s", "is not above zero"),
        ("5", "is not a duration"),
    ],
)
def test_durations_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        read_duration(CONTEXT, OPTION, text)


def test_values_that_are_not_given_are_none() -> None:
    assert read_instant(CONTEXT, OPTION, None) is None
    assert read_duration(CONTEXT, OPTION, None) is None
    assert read_rate(CONTEXT, OPTION, None) is None
    assert read_kube_version(CONTEXT, OPTION, "") is None
    assert read_input_name(CONTEXT, OPTION, None) is None


@pytest.mark.parametrize("rate", [-0.5, float("inf"), float("nan")], ids=str)
def test_rates_that_are_no_numbers_from_zero_up_are_refused(rate: float) -> None:
    with pytest.raises(click.BadParameter, match="is not a number from zero up"):
        read_rate(CONTEXT, OPTION, rate)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Other=true", "feature gate 'Other' is not known"),
        ("AllAlpha=1", "is neither AllAlpha=true nor AllAlpha=false"),
        ("AllAlpha", "is neither AllAlpha=true nor AllAlpha=false"),
    ],
)
def test_feature_gates_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        read_feature_gates(CONTEXT, OPTION, (text,))


def test_version_of_a_scheduler_is_read_or_refused() -> None:
    version = read_kube_version(CONTEXT, OPTION, "1.34")

    assert version is not None
    assert (version.major, version.minor) == (1, 34)
    with pytest.raises(click.BadParameter):
        read_kube_version(CONTEXT, OPTION, "newest")


def test_standard_input_is_taken_once_and_files_as_often_as_they_are_named() -> None:
    context = click.Context(click.Command("test"))

    assert read_input_names(context, OPTION, ("a", "a", "-", "b")) == ("a", "a", "-", "b")
    with pytest.raises(click.BadParameter, match="standard input can be read once"):
        read_input_name(context, OPTION, "-")


def test_empty_name_of_a_file_is_refused() -> None:
    for read in (read_file_name, read_input_name, read_output_name):
        with pytest.raises(click.BadParameter, match="the file name is empty"):
            read(CONTEXT, OPTION, "")


def test_plan_does_not_go_to_standard_output_beside_its_document() -> None:
    assert read_output_name(CONTEXT, OPTION, "./-") == "./-"
    with pytest.raises(click.BadParameter, match="standard output is used for the plan"):
        read_output_name(CONTEXT, OPTION, "-")


def test_source_of_a_file_is_its_path_and_of_standard_input_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"kind: x\xff")))

    assert (input_path("a"), input_path("-")) == (Path("a"), "-")
    assert file_source("a") == (Path("a"), None)
    assert file_source("-") == ("kind: x\ufffd", "<stdin>")


def test_closed_standard_input_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(click.UsageError, match="standard input is closed"):
        file_source("-")
