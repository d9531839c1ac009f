"""SIGINT and SIGTERM as a request to end in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType

from descheduler.supervision import Watch
from descheduler.telemetry.urgent_lines import log_broken_off

__all__ = ["end_search_on_interrupt", "stop_on_signals"]

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
        del frame
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
