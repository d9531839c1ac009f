"""Log lines from a signal handler, which may have interrupted the very code that writes the log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import FrameType

from descheduler.telemetry.console import ERASE_LINE
from descheduler.telemetry.logging import JsonFormatter, KlogFormatter, fields, is_json
from descheduler.telemetry.patient_stream import PatientStream

__all__ = ["log_broken_off"]

_MOST_NAMED = 100
"""Pods that get a line of their own; the dispatcher has fewer calls under way."""


def log_broken_off(pods: Sequence[str], frame: FrameType | None) -> None:
    """Says that a run ends without its outcome, and which pods, as `namespace/name`, may or may not leave.

    Written past the stream and the locks of the log: the code at `frame` may be in the middle of using them.
    """
    formatter = JsonFormatter() if is_json() else KlogFormatter()
    text = "".join(f"{formatter.format(record)}\n" for record in _records(pods, frame))
    with (
        suppress(OSError, ValueError, AttributeError),  # standard error is closed, or no file
        open(sys.stderr.fileno(), "w", encoding="utf-8", errors="backslashreplace", closefd=False) as stream,
    ):
        PatientStream(stream).write(f"{ERASE_LINE}{text}" if stream.isatty() else text)


def _records(pods: Sequence[str], frame: FrameType | None) -> Iterator[logging.LogRecord]:
    yield _record("Interrupted by a second signal; outcome not written", frame, unconfirmed=len(pods))
    for pod in pods[:_MOST_NAMED]:
        yield _record("Eviction not confirmed, counted as evicted", frame, pod=pod)
    if num_more := len(pods[_MOST_NAMED:]):
        yield _record("More evictions not confirmed", frame, num=num_more)


def _record(message: str, frame: FrameType | None, **event_fields: object) -> logging.LogRecord:
    place = ("(unknown)", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    record = logging.LogRecord("descheduler", logging.WARNING, *place, message, None, None)
    vars(record).update(fields(**event_fields))
    return record
