"""How the process ends: SIGINT and SIGTERM ask for an end in order, and work that was given up may still run then.

What signals do to the program is said from its start until it is gone.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from types import FrameType
from typing import NoReturn

from descheduler.cli.ending.exit_code import ExitCode
from descheduler.process_end import remove_what_is_bound
from descheduler.supervision import Watch
from descheduler.telemetry.console import ERASE_LINE
from descheduler.telemetry.logging import log_broken_off

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


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals(watch: Watch | None = None) -> Iterator[threading.Event]:
    """The flag `stop` of `watch`, which the first signal sets; one that ends a search is none.

    A second one ends the program as without this; once evictions were asked for, the log first names those of which
    it is unknown whether they took effect, unless the outcome is written.
    """
    watched = Watch() if watch is None else watch
    previous = {number: signal.getsignal(number) for number in _SIGNALS}

    # One call that nothing interrupts tells which was first: the second may come while the first is being handled.
    received = count()

    def handle(number: int, frame: FrameType | None) -> None:
        if watched.ends_search(number):
            return
        if next(received) == 0:
            watched.request_stop(number)
        else:
            break_off(number, frame)

    def break_off(number: int, frame: FrameType | None) -> None:
        restore()
        is_told = watched.exit_code is not None
        if watched.has_effects and not is_told and previous[signal.Signals(number)] is not signal.SIG_IGN:
            log_broken_off(watched.find_open(), frame)
        signal.raise_signal(number)

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield watched.stop
    finally:
        restore()


@contextmanager
def end_search_on_interrupt(watch: Watch) -> Iterator[None]:
    """Has Ctrl-C and SIGTERM end a search that `watch` lets end; else they do what they do without this.

    For work that needs no end in order. Signals that whoever started the program has ignored stay so.
    """
    previous = {number: signal.getsignal(number) for number in _SIGNALS}
    handled = [number for number in _SIGNALS if previous[number] is not signal.SIG_IGN]

    def handle(number: int, frame: FrameType | None) -> None:
        if not watch.ends_search(number):
            signal.signal(number, previous[signal.Signals(number)])
            signal.raise_signal(number)

    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, previous[number])
