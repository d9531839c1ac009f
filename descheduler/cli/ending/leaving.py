"""Ends the process although work that was given up still runs: on threads, and in child processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

__all__ = ["leave"]

_FLUSH_SECONDS = 0.3


def leave(code: int) -> NoReturn:
    """Ends the process now. Nothing is awaited but the output, for a moment; what its threads do ends with it.

    Child processes are killed: those of this program are credential plugins of a kubeconfig, and one that hangs would
    outlive it. One with a process group of its own is killed with its group. They are found in /proc; where there is
    none, as on macOS, they are left.
    """
    flushing = threading.Thread(target=_flush, daemon=True)
    flushing.start()
    flushing.join(_FLUSH_SECONDS)
    for pid, group in list(_descendants(os.getpid())):
        with suppress(OSError):
            if group == pid:
                os.killpg(group, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _descendants(ancestor: int) -> Iterator[tuple[int, int]]:
    """Process id and process group of each process below `ancestor`."""
    children: dict[int, list[tuple[int, int]]] = {}
    for pid, parent, group in _processes():
        children.setdefault(parent, []).append((pid, group))
    waiting = [ancestor]
    while waiting:
        for pid, group in children.get(waiting.pop(), ()):
            yield pid, group
            waiting.append(pid)


def _processes() -> Iterator[tuple[int, int, int]]:
    """Process id, parent and process group of each process there is, see proc(5)."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The second field is the name in brackets, which may hold anything.
            _state, parent, group, *_ = file.read_text(errors="replace").rpartition(")")[2].split()
            yield int(file.parent.name), int(parent), int(group)
