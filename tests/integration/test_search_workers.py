"""Processes that search for a plan end with the run, whichever way that ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from multiprocessing.connection import Pipe
from pathlib import Path

import pytest

from descheduler.optimizer.workers import worker_command
from tests.integration.credential_plugins import IN_TIME_SECONDS, wait_until
from tests.integration.live_processes import PATIENCE_SECONDS, PROGRAM
from tests.policy.builders import upstream

pytestmark = pytest.mark.long

DUMP = Path(__file__).parents[2] / "config" / "samples" / "koordinator.jsonl.gz"
NUM_PROCESSES = 3
"""The run and two workers."""


@pytest.fixture
def searching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A dry run whose workers have started, in a process group of its own."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        upstream(
            "profiles:\n"
            "- name: p\n"
            "  pluginConfig:\n"
            "  - name: MigrationPlanner\n"
            "    args: {objectives: [{consolidateNodes: {}}], timeLimit: 10m, workers: 2}\n"
            "  plugins: {balance: {enabled: [MigrationPlanner]}}\n"
        )
    )
    command = [*PROGRAM, "run", "--config", str(policy), "--snapshot", str(DUMP), "-q"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        assert wait_until(lambda: len(members(process.pid)) == NUM_PROCESSES, seconds=PATIENCE_SECONDS)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def members(group: int) -> list[int]:
    """The processes of a group that are more than their remains."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group_of, *_ = file.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(group_of) == group and state != "Z":
            found.append(int(file.parent.name))
    return found


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGKILL, -9)]
)
def test_workers_end_with_the_run(searching: subprocess.Popen[str], number: signal.Signals, code: int) -> None:
    """SIGTERM ends the search of a dry run, which shows the best plan so far."""
    searching.send_signal(number)
    _, err = searching.communicate(timeout=PATIENCE_SECONDS)

    assert searching.returncode == code
    assert "Traceback" not in err
    assert wait_until(lambda: members(searching.pid) == []), IN_TIME_SECONDS


def test_worker_whose_run_is_gone_before_it_starts_ends_without_a_word() -> None:
    """The run is killed while Python starts: nothing was told, and the other end of the pipe is closed."""
    ours, theirs = Pipe()
    with theirs:
        command = worker_command(theirs.fileno())
        worker = subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
        ours.close()

    _, err = worker.communicate(timeout=PATIENCE_SECONDS)

    assert (worker.returncode, err) == (0, "")
