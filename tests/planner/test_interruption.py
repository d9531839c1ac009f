"""Ctrl-C while the solver runs and after it: it is left to those who asked for a plan."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import os
import signal
import threading

import numpy as np
from descheduler.planner.limits import Limits
from descheduler.planner.objectives.balance import Balance
from descheduler.planner.problem import make_problem
from descheduler.planner.solving import solve

seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
rng = np.random.default_rng(1)
need = rng.integers(100, 900, (300, 3))
capacity = np.tile(need.sum(axis=0) // 37, (40, 1))
problem = make_problem(need, capacity * 9, rng.integers(0, 8, 300))
goal = Balance(capacity)
during = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
during.start()
solve(problem, goal, Limits(seconds=3.0))
during.join()
os.kill(os.getpid(), signal.SIGINT)
print(len(seen))
"""


def test_signals_reach_the_handler_of_the_program_during_a_search_and_after_it() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr
