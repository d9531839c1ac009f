"""How errors end the program, whatever else happens to be imported."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import click
import pytest

from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.ending.explaining import explain_error, known_error, run_exit_code
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import DumpError, SnapshotError
from descheduler.cycle.applying import PlanRefusedError
from descheduler.documents.problems import DocumentProblem, PolicyError
from descheduler.kube.leases.lease import LeaseHeld
from descheduler.report.plan.reading import PlanFileError
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError
from tests.builders import node_object

LIVE = "descheduler.cluster.live"


@pytest.fixture(params=[True, False], ids=["live reading is imported", "live reading is not imported"])
def imports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module for live clusters, imported by somebody or by nobody."""
    if request.param:
        monkeypatch.setitem(sys.modules, LIVE, sys)
    else:
        monkeypatch.delitem(sys.modules, LIVE, raising=False)


@pytest.mark.usefixtures("imports")
def test_broken_dump_is_wrong_input(tmp_path: Path) -> None:
    broken = tmp_path / "dump.json"
    broken.write_text(json.dumps(node_object("a") | {"spec": 5}))

    with pytest.raises(SnapshotError) as caught:
        read_dump([broken])

    message, code = known_error(caught.value) or ("", None)
    assert code is ExitCode.INVALID
    assert "dump.json" in message


@pytest.mark.usefixtures("imports")
def test_cluster_that_cannot_be_read_is_a_failure() -> None:
    error = SnapshotError("/api/v1/pods: the list expired 4 times")

    assert known_error(error) == (str(error), ExitCode.FAILED)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(CommandError("no", ExitCode.INVALID), ("no", ExitCode.INVALID), id="of a command"),
        pytest.param(RunStopped("over"), ("over", ExitCode.STOPPED), id="the deadline"),
        pytest.param(RunStopped("over", signal.SIGTERM), ("over", ExitCode.TERMINATED), id="a signal"),
        pytest.param(PlanFileError("f: no"), ("f: no", ExitCode.INVALID), id="a plan file"),
        pytest.param(PlanRefusedError("changed"), ("changed", ExitCode.FAILED), id="a plan that is refused"),
        pytest.param(LeaseHeld("another run"), ("another run", ExitCode.DONE), id="another run is active"),
        pytest.param(ExchangeError("no answer"), ("no answer", ExitCode.FAILED), id="the API server"),
        pytest.param(DumpError("f: no"), ("f: no", ExitCode.INVALID), id="a dump"),
        pytest.param(
            MemoryError(), ("out of memory; raise the memory limit, or split the dump", ExitCode.FAILED), id="memory"
        ),
        pytest.param(
            FileNotFoundError(2, "No such file or directory", "f"),
            ("f: input or output failed: no such file or directory", ExitCode.FAILED),
            id="a file",
        ),
        pytest.param(
            OSError(28, "No space left on device"),
            ("input or output failed: no space left on device", ExitCode.FAILED),
            id="no file",
        ),
        pytest.param(ValueError("secret"), None, id="a defect"),
    ],
)
def test_error_has_a_message_and_an_exit_code(error: Exception, expected: tuple[str, ExitCode] | None) -> None:
    assert known_error(error) == expected


@pytest.mark.parametrize(
    ("error", "has_effects", "code"),
    [
        (LeaseHeld("another run"), False, None),
        (LeaseHeld("another run"), True, None),
        (KeyboardInterrupt(), True, ExitCode.INTERRUPTED),
        (click.Abort(), False, ExitCode.INTERRUPTED),
        (ExchangeError("no answer"), False, ExitCode.FAILED),
        (ExchangeError("no answer"), True, ExitCode.STOPPED),
        (DumpError("no"), False, ExitCode.INVALID),
        (ValueError("a defect"), False, ExitCode.FAILED),
        (ValueError("a defect"), True, ExitCode.STOPPED),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else str(each),
)
def test_run_that_has_evicted_never_ends_as_if_it_had_not(
    error: BaseException, has_effects: bool, code: ExitCode | None
) -> None:
    watch = Watch()
    watch.has_effects = has_effects

    assert run_exit_code(error, watch) is code


def told(error: Exception, capsys: pytest.CaptureFixture[str], *, has_effects: bool = False) -> tuple[int, str]:
    watch = Watch()
    watch.has_effects = has_effects
    return explain_error(error, watch), capsys.readouterr().err


def test_error_is_one_message_and_another_run_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(ExchangeError("no answer"), capsys) == (1, "error: no answer\n")
    assert told(LeaseHeld("another run is active"), capsys) == (0, "another run is active\n")


def test_problems_of_a_policy_have_their_place_in_front(capsys: pytest.CaptureFixture[str]) -> None:
    problem = DocumentProblem("policy.yaml", 3, 1, "profiles", "is empty")

    code, text = told(PolicyError([problem]), capsys)

    assert (code, text) == (2, f"{problem}\n")


def test_error_after_evictions_says_that_there_were_some(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = told(ExchangeError("no answer"), capsys, has_effects=True)

    assert code == ExitCode.STOPPED
    assert text.splitlines() == [
        "error: no answer",
        "error: pods were evicted before this error; see the log and the Events of the pods",
    ]


def test_defect_is_told_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = told(ValueError("secret"), capsys)

    assert code == ExitCode.FAILED
    assert (
        text == "error: internal error: ValueError; please report it, with the output of the same command with -v 6\n"
    )


def test_what_would_steer_a_terminal_is_escaped_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(ExchangeError("a\x1b[31m\nb"), capsys) == (1, "error: a\\x1b[31m\nb\n")


def test_closed_standard_error_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    assert explain_error(ExchangeError("no answer"), Watch()) == ExitCode.FAILED
