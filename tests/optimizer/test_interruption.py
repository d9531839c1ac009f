"""Ctrl-C while the solver runs and after it is left to those who asked for a plan; searches end with their program."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
import os
import signal
import threading
import time

import numpy as np
from descheduler.optimizer.limits import Limits
from descheduler.optimizer.objectives.balance_utilization import BalanceUtilization
from descheduler.optimizer.problem import make_problem
from descheduler.optimizer.solving import solve

seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
rng = np.random.default_rng(1)
need = rng.integers(100, 900, (300, 3))
capacity = np.tile(need.sum(axis=0) // 37, (40, 1))
problem = make_problem(need, capacity * 9, rng.integers(0, 8, 300))
goal = BalanceUtilization(capacity)
during = threading.Timer(1.5, lambda: os.killpg(0, signal.SIGINT))
during.start()
solve(problem, goal, Limits(seconds=3.0), num_workers={num_workers})
during.join()
os.killpg(0, signal.SIGINT)
give_up_at = time.monotonic() + 60
while len(seen) < 2 and time.monotonic() < give_up_at:  # another thread may have got it
    time.sleep(0.01)
print(len(seen))
"""


@pytest.mark.long
@pytest.mark.parametrize("num_workers", [1, 2])
def test_signals_reach_the_handler_of_the_program_alone(num_workers: int) -> None:
    """As at a terminal they are sent to all processes of the program."""
    program = _PROGRAM.format(num_workers=num_workers)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, start_new_session=True
    )

    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr


_KILLED = """
import os
import signal
import threading

import numpy as np
from descheduler.optimizer.limits import Limits
from descheduler.optimizer.objectives.balance_utilization import BalanceUtilization
from descheduler.optimizer.problem import make_problem
from descheduler.optimizer.solving import solve

rng = np.random.default_rng(1)
need = rng.integers(100, 900, (300, 3))
capacity = np.tile(need.sum(axis=0) // 37, (40, 1))
problem = make_problem(need, capacity * 9, rng.integers(0, 8, 300))
threading.Timer({seconds}, lambda: os.kill(os.getpid(), signal.{signal})).start()
solve(problem, BalanceUtilization(capacity), Limits(seconds=60.0), num_workers=2)
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("seconds", [0.2, 3.0], ids=["while they start", "while they search"])
def test_searches_end_without_a_word_when_their_program_is_killed(name: str, seconds: float) -> None:
    """They have the standard error of the program, which is read to its end: until the last of them is gone."""
    program = _KILLED.format(seconds=seconds, signal=name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=50)

    assert (done.returncode, done.stderr) == (-signal.Signals[name], "")
