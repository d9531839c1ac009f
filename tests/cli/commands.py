"""The command line within the test's process, for every folder whose tests run commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from descheduler.cli.main import main
from tests import process_logging


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Descheduler = Callable[..., Ended]


@pytest.fixture
def descheduler(capsys: pytest.CaptureFixture[str]) -> Descheduler:
    """Runs the command line in this process; arguments may be paths."""

    def run(*arguments: str | Path) -> Ended:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Leaves the process's logging as it was."""
    with process_logging.restored():
        yield
