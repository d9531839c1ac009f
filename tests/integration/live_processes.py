"""The command line as processes of their own against the fake API server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.integration.live_runs import taint_policy

__all__ = ["PATIENCE_SECONDS", "PROGRAM", "Cli", "cli"]

PROGRAM = (sys.executable, "-m", "descheduler")
PATIENCE_SECONDS = 120
"""How long a process may take on a busy machine before a test gives up."""


class Cli:
    """The command line, with a policy and a kubeconfig for the fake API server."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self.policy = folder / "policy.yaml"
        self.policy.write_text(taint_policy())
        self.kubeconfig = kubeconfig
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        self._processes: list[subprocess.Popen[str]] = []

    def start(
        self,
        *flags: str,
        command: str = "run",
        program: Sequence[str] = PROGRAM,
        stderr: int = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """A running command, by default `descheduler run`; the streams are pipes, unless `stderr` is a file."""
        policy = () if command == "snapshot" else ("--config", str(self.policy))
        process = subprocess.Popen(
            [*program, command, *flags, *policy, "--kubeconfig", str(self.kubeconfig)],
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
        """Exit code, standard output and standard error of a whole run, or of another command."""
        process = self.start(*flags, command=command)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, out, err


@pytest.fixture
def cli(tmp_path: Path, kubeconfig: Path) -> Iterator[Cli]:
    """The command line of one test."""
    started = Cli(tmp_path, kubeconfig)
    yield started
    started.close()
