"""The program as a whole, within the process of the test: how it ends, and what it says of threads that fail."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from descheduler.cli import main as program
from descheduler.cli.completions import complete_namespace
from descheduler.cli.ending import leaving
from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.ending.explaining import fail
from descheduler.cli.ending.leaving import die_of
from descheduler.cli.output import write_text
from descheduler.supervision import Watch
from descheduler.telemetry.logging import LogFormat, configure_logging
from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler
from tests.cli.test_completions import PARAM, context


@pytest.mark.parametrize(
    ("has_given_up", "deadline", "left"),
    [
        pytest.param(False, None, False, id="all is done"),
        pytest.param(True, None, True, id="work was given up"),
        pytest.param(False, 0.0, True, id="its time is over"),
    ],
)
def test_program_ends_at_once_where_work_may_still_run(
    monkeypatch: pytest.MonkeyPatch, has_given_up: bool, deadline: float | None, left: bool
) -> None:
    codes: list[int] = []
    watch = Watch(deadline_seconds=deadline)
    watch.has_given_up = has_given_up
    for name in ("handle_signals", "collect_rarely", "collect_no_more"):
        monkeypatch.setattr(program, name, lambda *_: None)
    monkeypatch.setattr(program, "Watch", lambda **_: watch)
    monkeypatch.setattr(program, "leave", codes.append)
    monkeypatch.setattr("sys.argv", ["descheduler", "version"])

    assert program.main() == 0
    assert (codes == [0], watch.exit_code) == (left, 0)


def test_shell_that_asks_for_completions_ends_the_program_well(
    descheduler: Descheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_DESCHEDULER_COMPLETE", "zsh_source")

    ended = descheduler("run")

    assert (ended.code, ended.err) == (0, "")
    assert "_DESCHEDULER_COMPLETE" in ended.out


def test_signal_kills_the_program_or_else_it_ends_as_if_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process of a container does not die of signals."""
    ends: list[int] = []
    monkeypatch.setattr(leaving, "signal", SimpleNamespace(SIG_DFL=0, signal=lambda *_: None, raise_signal=ends.append))
    monkeypatch.setattr(leaving, "remove_what_is_bound", lambda: None)
    monkeypatch.setattr(os, "_exit", ends.append)

    die_of(15)

    assert ends == [15, 143]


@pytest.mark.parametrize(
    ("code", "log_format", "said"),
    [
        (ExitCode.FAILED, "json", ("error", "error: no")),
        (ExitCode.DONE, "json", ("info", "error: no")),
        (ExitCode.FAILED, "text", "error: no\n"),
    ],
)
def test_message_at_the_end_is_an_event_of_a_log_in_json(code: ExitCode, log_format: LogFormat, said: object) -> None:
    stream = io.StringIO()
    configure_logging(stream, verbosity=0, log_format=log_format)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", stream)
        assert fail("no", code) is code

    text = stream.getvalue()
    if log_format == "json":
        event = json.loads(text)
        assert (event["level"], event["msg"]) == said
    else:
        assert text == said


class Broken(io.StringIO):
    """A stream that takes nothing, for this cause."""

    def __init__(self, error: OSError, file: Path) -> None:
        super().__init__()
        self._error = error
        self._file = file.open("wb")

    def write(self, text: str) -> int:
        raise self._error

    def fileno(self) -> int:
        return self._file.fileno()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(28, "No space left on device"), "no space left on device"),
        (OSError("Odd"), "odd"),
    ],
)
def test_output_that_cannot_be_written_is_one_message(
    monkeypatch: pytest.MonkeyPatch, kept: Path, error: OSError, cause: str
) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(error, kept))

    with pytest.raises(CommandError, match=f"^cannot write to standard output: {cause}$"):
        write_text(["x"])


def test_reader_that_has_gone_away_is_told_to_the_command(monkeypatch: pytest.MonkeyPatch, kept: Path) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(BrokenPipeError(), kept))

    assert write_text(["x"]) is False


def test_closed_output_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    with pytest.raises(CommandError, match="cannot write to standard output: it is closed"):
        write_text(["x"])


def test_completion_does_not_read_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command reads it."""
    dump = {"apiVersion": "v1", "kind": "List", "items": [node_object("a"), pod_object("p", namespace="shop")]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(dump).encode())))

    assert complete_namespace(context(snapshot=("-",)), PARAM, "") == []
