"""Signals from the start of the program until its process is gone: the exit code, and that nothing is left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.long

INTERRUPTED = (130, "error: interrupted (Ctrl-C)\n")
TERMINATED = (-signal.SIGTERM, "")
AS_DECIDED = (3, "")


def signalled(scene: str, number: signal.Signals, stride: int) -> list[dict[str, Any]]:
    """How a process ends that gets a signal, for every so many lines that it runs from some point of `scene` on."""
    command = [sys.executable, "-m", "tests.cli.signal_points", scene, str(int(number)), str(stride)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ends: list[dict[str, Any]] = json.loads(done.stdout)
    return ends


@pytest.mark.parametrize(("number", "stride"), [(signal.SIGINT, 3), (signal.SIGTERM, 11)])
@pytest.mark.parametrize("scene", ["told", "told_and_stopped", "shown"])
def test_no_signal_changes_an_exit_code_that_is_decided(scene: str, number: signal.Signals, stride: int) -> None:
    ends = signalled(scene, number, stride)

    assert len(ends) > 10
    assert [end for end in ends if (end["code"], end["err"]) != AS_DECIDED or not end["is_gone"]] == []


@pytest.mark.parametrize(
    ("number", "stride", "at_once"), [(signal.SIGINT, 4, INTERRUPTED), (signal.SIGTERM, 13, TERMINATED)]
)
def test_signal_ends_a_command_as_documented_wherever_it_comes(
    number: signal.Signals, stride: int, at_once: tuple[int, str]
) -> None:
    ends = {(end["code"], end["err"]) for end in signalled("under_way", number, stride)}

    assert ends == {at_once, AS_DECIDED}


UNDYING = """
import signal
from descheduler.cli.ending.leaving import die_of

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
die_of(signal.SIGTERM)
"""


def test_first_process_of_a_container_ends_too() -> None:
    """The system spares it the default action of a signal; here the signal is blocked instead."""
    ended = subprocess.run([sys.executable, "-c", UNDYING], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (143, "")


IGNORED = """
import signal, sys

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
sys.argv = ["descheduler", "version"]
from descheduler.__main__ import main

main()
print({signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)})
"""


def test_signals_that_were_ignored_from_outside_stay_so() -> None:
    """As by nohup, and by a shell that starts a program in the background."""
    ended = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True, check=True)

    assert ended.stdout.splitlines()[-1] == str({signal.SIG_IGN})
