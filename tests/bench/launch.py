"""Runs one command and writes what it took to a file: `python launch.py FILE SECONDS COMMAND...`.

The kernel counts the peak memory of a parent as its child's until the child outgrows it, so a bench that has grown
large would report its own peak for everything it starts. This script is small and stays so. SECONDS is the time after
which the command is killed, 0 for none.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time


def main() -> None:
    """Runs the command with the standard streams of this process; ends with 0 whatever became of it."""
    report, limit_seconds, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    killer = threading.Timer(limit_seconds, os.kill, (process.pid, signal.SIGKILL))
    if limit_seconds:
        killer.start()
    _, status, used = os.wait4(process.pid, 0)
    killer.cancel()
    wall = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    figures = {
        "wall_seconds": wall,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
        "exit_code": code,
        "was_stopped": bool(limit_seconds) and code == -signal.SIGKILL and wall >= limit_seconds,
    }
    with open(report, "w", encoding="utf-8") as file:
        json.dump(figures, file)


if __name__ == "__main__":
    main()
