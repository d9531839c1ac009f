"""Ends the process although work that was given up still runs: on threads, and in child processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from descheduler.process_end import remove_what_is_bound

__all__ = ["HANDLED", "die_of", "leave"]

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
