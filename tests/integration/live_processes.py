"""The command line against the fake API server, in this process or in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest

from descheduler.cli.main import main
from tests import process_logging
from tests.integration.live_runs import taint_policy

PROGRAM = (sys.executable, "-m", "descheduler")
PATIENCE_SECONDS = 120
"""How long a process may take on a busy machine before a test gives up."""


class Cli:
    """The command line, with a policy and a kubeconfig for the fake API server."""

    def __init__(self, folder: Path, kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.policy = folder / "policy.yaml"
        self.policy.write_text(taint_policy())
        self.kubeconfig = kubeconfig
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        self._capsys = capsys
        self._processes: list[subprocess.Popen[str]] = []

    def start(
        self,
        *flags: str,
        command: str = "run",
        program: Sequence[str] = PROGRAM,
        stderr: int = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """A process with a command, by default `run`; the streams are pipes, unless `stderr` is a file."""
        process = subprocess.Popen(
            [*program, *self._arguments(command, flags)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=self.environment,
        )
        self._processes.append(process)
        return process

    def close(self) -> None:
        """Ends what a failed test left running."""
        for process in self._processes:
            process.kill()
            process.communicate()

    def run(self, *flags: str, command: str = "run") -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a whole run, or of another command, in this process."""
        self._capsys.readouterr()
        with process_logging.restored(), mock.patch.dict(os.environ, self.environment, clear=True):
            code = main(self._arguments(command, flags))
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def _arguments(self, command: str, flags: Sequence[str]) -> list[str]:
        policy = () if command == "snapshot" else ("--config", str(self.policy))
        return [command, *flags, *policy, "--kubeconfig", str(self.kubeconfig)]


@pytest.fixture
def cli(tmp_path: Path, kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """The command line of one test."""
    started = Cli(tmp_path, kubeconfig, capsys)
    yield started
    started.close()
