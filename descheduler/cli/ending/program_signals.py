"""What signals do to the program from its start until its process is gone."""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.ending.leaving import HANDLED, die_of, leave
from descheduler.supervision import Watch

__all__ = ["ProgramSignals"]

_STDERR = 2


class ProgramSignals:
    """The handler of signals wherever no run handles them itself, see `stop_on_signals`.

    Once `watch` has an exit code, a signal ends the program with that one. Before, Ctrl-C is raised once as
    KeyboardInterrupt, so that files are removed that are only half written; any other signal ends the program at once.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._may_raise = False

    def install(self) -> None:
        """Handles the signals from now on, but those that whoever started the program has ignored."""
        for number in HANDLED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        sys.unraisablehook = self._hear_what_is_lost
        atexit.register(_ignore_signals)

    def guard(self, work: Callable[[], int], interrupted: Callable[[], int]) -> int:
        """The exit code that `work` returns, or `interrupted` after Ctrl-C."""
        try:
            self._may_raise = True
            code = work()
            self._may_raise = False
        except KeyboardInterrupt:
            code = interrupted()
        return code

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._watch.exit_code is not None:
            leave(self._watch.exit_code)
        may_raise, self._may_raise = self._may_raise, False
        if number != signal.SIGINT:
            die_of(number)
        if not may_raise:
            _leave_interrupted()
        raise KeyboardInterrupt

    def _hear_what_is_lost(self, lost: sys.UnraisableHookArgs) -> None:
        """KeyboardInterrupt that was raised where Python lets no exception out, as while an object is removed."""
        if isinstance(lost.exc_value, KeyboardInterrupt):
            _leave_interrupted()
        sys.__unraisablehook__(lost)


def _leave_interrupted() -> NoReturn:
    with suppress(OSError):  # past the stream, which the program may be in the middle of using
        if select.select([], [_STDERR], [], 0)[1]:
            os.write(_STDERR, b"error: interrupted (Ctrl-C)\n")
    leave(ExitCode.INTERRUPTED)


def _ignore_signals() -> None:
    """For the time in which Python calls no handler any more, and would have the signals kill the process."""
    for number in HANDLED:
        signal.signal(number, signal.SIG_IGN)
