"""Logs as events with fields: text in the form of klog, or JSON lines; always on standard error.

Levels follow klog: an event of verbosity n shows from `-v n` on. It is the standard library's level `INFO - n`, so that
loggers and handlers of the standard library need to know nothing of it. Lines from a signal handler, which may have
interrupted the very code that writes the log, are written past it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from types import FrameType
from typing import Literal, TextIO

from descheduler.telemetry.console import ERASE_LINE, Console, PatientStream
from descheduler.telemetry.faults import traceback_lines

LogFormat = Literal["text", "json"]
_ROOT = "descheduler"
_HIGHEST_VERBOSITY = logging.INFO - 1
_FIELDS = "event_fields"
_TRUSTED = frozenset({_ROOT, "py"})
"""Whose messages are printed whole: those of this program, and the warnings that Python itself issues."""
_HIDDEN = "***"


def configure_logging(stream: TextIO | None, *, verbosity: int | None, log_format: LogFormat) -> None:
    """Sends the events of this program up to `verbosity`, and warnings of libraries, to `stream`.

    A `verbosity` of None, which was not chosen, is 0; on a terminal only warnings are shown then, unless in JSON.
    """
    handler = _handler(stream, log_format)
    handler.setFormatter(JsonFormatter() if log_format == "json" else KlogFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    is_silent = verbosity is None and isinstance(handler, Console)
    level = logging.INFO - min(verbosity or 0, _HIGHEST_VERBOSITY)
    logging.getLogger(_ROOT).setLevel(logging.WARNING if is_silent else level)
    logging.captureWarnings(True)


def _handler(stream: TextIO | None, log_format: LogFormat) -> logging.Handler:
    if stream is None:  # closed before the start
        return logging.NullHandler()
    if log_format == "text" and stream.isatty():
        return Console(stream, is_dumb=os.environ.get("TERM") == "dumb")
    return logging.StreamHandler(PatientStream(stream))


def is_json() -> bool:
    """Whether the log was set up as JSON; whoever reads it expects nothing else on standard error."""
    return any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers)


def log_event(logger: logging.Logger, message: str, *, verbosity: int = 0, **event_fields: object) -> None:
    """Logs an event for information at a klog verbosity; fields keep their order."""
    logger.log(logging.INFO - verbosity, message, extra=fields(**event_fields), stacklevel=2)


def fields(**event_fields: object) -> Mapping[str, object]:
    """Fields as the `extra` of any logging call."""
    return {_FIELDS: event_fields}


class KlogFormatter(logging.Formatter):
    """`I0630 12:00:00.123456 4711 cycle.py:12] "Evicted pod" pod="shop/cart-7f9"`, as Kubernetes itself writes."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; whatever does not print is escaped. A traceback follows on lines of its own."""
        letter = "E" if record.levelno >= logging.ERROR else "W" if record.levelno >= logging.WARNING else "I"
        moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1e6)
        place = f"{record.process} {record.filename}:{record.lineno}]"
        pairs = (f"{name}={_spelled(value)}" for name, value in _fields_of(record).items())
        line = " ".join([f"{letter}{moment}.{micros:06d} {place} {json.dumps(_message(record))}", *pairs])
        return "\n".join([line, *_traceback(record)])


class JsonFormatter(logging.Formatter):
    """One JSON object a line, with the keys of Kubernetes' JSON logging: `ts` (seconds), `caller`, `msg`, `v`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, a traceback included."""
        event: dict[str, object] = {
            "ts": round(record.created, 6),
            "level": "error" if record.levelno >= logging.ERROR else record.levelname.lower(),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": _message(record),
        }
        if record.levelno <= logging.INFO:
            event |= {"level": "info", "v": logging.INFO - record.levelno}
        event |= _fields_of(record)
        if trace := _traceback(record):
            event["traceback"] = "\n".join(trace)
        return json.dumps(event, default=str)


def _message(record: logging.LogRecord) -> str:
    """The message. Text that a library fills in is hidden: it may be a header field, or a URL with a password."""
    if record.name.partition(".")[0] in _TRUSTED:
        return record.getMessage()
    if not isinstance(record.msg, str):
        return type(record.msg).__name__
    if not isinstance(record.args, tuple) or not record.args:
        return record.msg
    return record.msg % tuple(arg if isinstance(arg, (int, float, Enum)) else _HIDDEN for arg in record.args)


def _traceback(record: logging.LogRecord) -> list[str]:
    """The lines of a traceback, without the texts of the errors, for the same reason."""
    error = record.exc_info[1] if record.exc_info else None
    return traceback_lines(error) if error is not None else []


def _fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    found: Mapping[str, object] = getattr(record, _FIELDS, {})
    return found


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else json.dumps(str(value))


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
