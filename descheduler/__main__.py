"""The program, `descheduler` or `python -m descheduler`: Ctrl-C ends it quietly even while Python still loads it."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]

_INTERRUPTED = 130
"""As shells count SIGINT; `descheduler.cli.ending.exit_code` is not loaded yet."""


def main() -> int:
    """Runs the command that the arguments of the process name, and returns the exit code."""
    # Whoever starts a program in the background has SIGINT ignored, which is left so.
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, _end)
    from descheduler.cli.main import main as run

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"error: interrupted (Ctrl-C)\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
