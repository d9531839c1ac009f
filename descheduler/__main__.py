"""The program, `descheduler` or `python -m descheduler`: Ctrl-C ends it quietly even while Python still loads it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

_INTERRUPTED = 130
"""As shells count SIGINT; `descheduler.cli.ending.exit_code` is not loaded yet."""


def main() -> int:
    """Runs the command that the arguments of the process name, and returns the exit code."""
    _handle_signals()
    from descheduler.cli.main import main as run  # which handles signals from then on

    return run()


def complete() -> int:
    """Prints the choices that kubectl asks for, and returns the exit code."""
    _handle_signals()
    from descheduler.cli.kubectl_completion import main as run

    return run()


def _handle_signals() -> None:
    # Whoever starts a program in the background has SIGINT ignored, which is left so.
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGINT:
        with suppress(OSError):  # standard error is closed
            os.write(2, b"error: interrupted (Ctrl-C)\n")
        os._exit(_INTERRUPTED)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    os._exit(128 + number)  # the first process of a container does not die of signals


if __name__ == "__main__":
    sys.exit(main())
