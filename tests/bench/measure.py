"""Runs a piece of work in a process of its own and reads its time and memory."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process took. `peak_bytes` is its largest resident size."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    figures: tuple[float, ...] = ()


def in_own_process(work: Callable[..., Sequence[float]], *args: object) -> Usage:
    """Runs `work(*args)` in a fresh interpreter; `figures` is what it returned."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(theirs, work, args))
    process.start()
    theirs.close()
    usage: Usage = ours.recv()
    process.join()
    return usage


def _child(pipe: Connection, work: Callable[..., Sequence[float]], args: tuple[object, ...]) -> None:
    started = time.perf_counter()
    figures = tuple(work(*args))
    own = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.perf_counter() - started
    pipe.send(Usage(wall, own.ru_utime + own.ru_stime, own.ru_maxrss * 1024, figures))


def command(arguments: Sequence[str]) -> Usage:
    """Runs the program with this interpreter and waits for it; output is thrown away. Raises on a failing exit."""
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "descheduler.cli.main", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        complaint = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: exit {process.returncode}: {complaint}")
    wall = time.perf_counter() - started
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def megabytes(size: int) -> str:
    """`size` in bytes as whole megabytes (10^6)."""
    return f"{size / 1e6:,.0f} MB"
