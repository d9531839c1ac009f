"""SIGINT and SIGTERM as a request to end in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stop_on_signals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that the first signal sets. A second signal ends the program at once, as without this."""
    stop = threading.Event()
    previous = {number: signal.getsignal(number) for number in _SIGNALS}

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    for number in _SIGNALS:
        signal.signal(number, request_stop)
    try:
        yield stop
    finally:
        restore()
