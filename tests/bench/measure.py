"""Runs a piece of work in a process of its own and reads its time and memory."""

from __future__ import annotations

import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")


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


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended: by itself with `exit_code`, or killed because its time was over."""

    usage: Usage
    exit_code: int
    was_stopped: bool


def run_command(arguments: Sequence[str], *, log: Path, limit_seconds: float = 0.0) -> Ended:
    """Runs the command with its standard error going to `log`, its output thrown away, and waits for it.

    It is killed after `limit_seconds`, 0 for never.
    """
    with tempfile.TemporaryDirectory() as folder, log.open("wb") as errors:
        report = Path(folder) / "usage.json"
        launcher = [sys.executable, "-S", str(_LAUNCHER), str(report), str(limit_seconds)]
        subprocess.run(
            [*launcher, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, check=True
        )
        figures = json.loads(report.read_text())
    usage = Usage(figures["wall_seconds"], figures["cpu_seconds"], figures["peak_bytes"])
    return Ended(usage, figures["exit_code"], figures["was_stopped"])


def command(arguments: Sequence[str]) -> Usage:
    """Runs the program with this interpreter and waits for it; output is thrown away. Raises on a failing exit."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        ended = run_command([sys.executable, "-m", "descheduler", *arguments], log=log)
        if ended.exit_code:
            raise RuntimeError(f"{' '.join(arguments)}: exit {ended.exit_code}: {log.read_text()}")
        return ended.usage


def resident_bytes() -> int:
    """What the process holds now; its peak would hide what is taken after reading."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def megabytes(size: int) -> str:
    """`size` in bytes as whole megabytes (10^6)."""
    return f"{size / 1e6:,.0f} MB"
