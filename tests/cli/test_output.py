"""Documents on standard output: fitted to a terminal, whole elsewhere, and given back at the end of a command."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from descheduler.cli.output import Output, keep_output, output_may_be_kept, write_data, write_document
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.telemetry.test_console import Terminal

PLAN = make_test_plan([make_pod(f"old-{'long' * 10}-{number}") for number in range(2)])


def written(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, **output: Any) -> str:
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "60")
    for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert write_document(PLAN, Output(**output))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("stream", "output", "fits", "colours"),
    [
        pytest.param(Terminal, {}, True, True, id="a terminal"),
        pytest.param(Terminal, {"has_headers": False}, False, True, id="rows for programs on a terminal"),
        pytest.param(io.StringIO, {}, False, False, id="a pipe"),
        pytest.param(Terminal, {"format": "wide"}, False, True, id="wide tables on a terminal"),
    ],
)
def test_tables_are_fitted_to_a_terminal_and_whole_elsewhere(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], output: dict[str, Any], fits: bool, colours: bool
) -> None:
    text = written(stream(), monkeypatch, **output)

    assert ("\x1b[" in text) is colours
    assert (f"old-{'long' * 10}-0" not in text) is fits


@pytest.mark.parametrize(("output_format", "expected"), [("html", True), ("markdown", True), ("json", False)])
def test_pictures_are_formats_of_plans_and_simulations_alone(output_format: Any, expected: bool) -> None:
    assert Output(output_format).is_picture is expected


def test_data_is_utf8_whatever_the_stream_says(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))

    write_data(["ä"])

    assert buffer.getvalue() == "ä".encode()


def test_what_a_plugin_prints_goes_elsewhere_until_the_command_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)

    with output_may_be_kept():
        assert sys.stdout is stream
        keep_output()
        kept = sys.stdout
        keep_output()
        assert sys.stdout is kept is not stream
        print("of a plugin")
        write_data(["of the command"])

    assert sys.stdout is stream
    assert stream.getvalue() == "of the command"


def test_output_outside_of_a_command_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)

    keep_output()

    assert sys.stdout is stream
