"""How the process ends: what signals do to it from its start, and that work that was given up may still run."""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from descheduler.cli.ending.exit_code import ExitCode
from descheduler.process_end import remove_what_is_bound
from descheduler.supervision import Watch
from descheduler.telemetry.console import ERASE_LINE

__all__ = ["HANDLED", "die_of", "handle_signals", "leave"]

HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that the program handles from its start until its process is gone."""
_FLUSH_SECONDS = 0.3


def leave(code: int) -> NoReturn:
    """Ends the process now. Nothing is awaited but the output, for a moment; what its threads do ends with it.

    Child processes are killed, such as a credential plugin that hangs, and no signal changes the exit code any more.
    """
    for number in HANDLED:
        # Not SIG_IGN: for a signal that came just before, Python would complain that nobody handles it.
        signal.signal(number, lambda *_: None)
    remove_what_is_bound()
    flushing = threading.Thread(target=_flush, daemon=True)
    with suppress(RuntimeError):  # the system has no thread left
        flushing.start()
        flushing.join(_FLUSH_SECONDS)
    os._exit(code)


def die_of(number: int) -> NoReturn:
    """Ends the process as an unhandled signal does, without its child processes."""
    remove_what_is_bound()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    os._exit(128 + number)  # the first process of a container does not die of signals


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


_STDERR = 2


def handle_signals(watch: Watch) -> None:
    """Handles the signals from now on, but those that whoever started the program has ignored.

    This counts wherever no run handles them itself, see `stop_on_signals`. Once `watch` has an exit code, any signal
    ends the program with that one. Before, Ctrl-C is KeyboardInterrupt where the program waits for supervised work;
    elsewhere, and for the second time, it ends the program at once, as any other signal does.
    """
    was_interrupted = False

    def handle(number: int, _frame: FrameType | None) -> None:
        nonlocal was_interrupted
        if watch.exit_code is not None:
            leave(watch.exit_code)
        if number != signal.SIGINT:
            die_of(number)
        if was_interrupted or not watch.interrupt():
            _leave_interrupted()
        was_interrupted = True

    for number in HANDLED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handle)
    atexit.register(_ignore_signals)


def _leave_interrupted() -> NoReturn:
    """Says so past the stream, which the program may be in the middle of using."""
    start = ERASE_LINE if os.isatty(_STDERR) else ""
    with suppress(OSError):
        if select.select([], [_STDERR], [], 0)[1]:
            os.write(_STDERR, f"{start}error: interrupted (Ctrl-C)\n".encode())
    leave(ExitCode.INTERRUPTED)


def _ignore_signals() -> None:
    """For the time in which Python calls no handler any more, and would have signals kill the process."""
    for number in HANDLED:
        signal.signal(number, signal.SIG_IGN)
