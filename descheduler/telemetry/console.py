"""The log on a terminal, with one line below it that is written again in place.

Writing to standard error is never held up by a reader that does not read.
"""

from __future__ import annotations

import logging
import os
import select
import time
from typing import TextIO

_PATIENCE_SECONDS = 1.0
"""For a reader that is slow, in sum: a pipe that is full for longer has no reader."""
_PIECE_CHARACTERS = 1024
"""Never more than PIPE_BUF bytes in UTF-8: a pipe that is ready takes as many without waiting, see pipe(7)."""


class PatientStream:
    """Stands before `stream`, and drops what that does not take in time. For use by one thread at a time.

    A run without a listener still has to end at its deadline and on signals.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._seconds_left = _PATIENCE_SECONDS

    def write(self, text: str) -> None:
        """Writes `text`, or as much of it as the stream takes."""
        try:
            for start in range(0, len(text), _PIECE_CHARACTERS):
                if not self._is_ready():
                    return
                self._stream.write(text[start : start + _PIECE_CHARACTERS])
                self._stream.flush()
        except (OSError, ValueError):  # its reader is gone, or it is closed
            self._seconds_left = 0.0

    def flush(self) -> None:
        """Everything is out already."""

    def _is_ready(self) -> bool:
        try:
            handle = self._stream.fileno()
        except (OSError, ValueError, AttributeError):  # no file, as in tests
            return True
        asked_at = time.monotonic()
        is_ready = bool(select.select([], [handle], [], max(0.0, self._seconds_left))[1])
        self._seconds_left -= time.monotonic() - asked_at
        return is_ready


ERASE_LINE = "\r\x1b[K"
"""Back to the first column, and everything to the right of it is gone."""
_USUAL_COLUMNS = 80


class Console(logging.StreamHandler[PatientStream]):
    """Writes log lines to `stream`, a terminal, above a line that `show` replaces.

    Everything goes through one patient stream under the handler's lock: a terminal that takes nothing blocks no thread,
    and log lines of other threads do not mix with the line. A terminal without escape sequences gets no such line.
    """

    def __init__(self, stream: TextIO, *, is_dumb: bool = False) -> None:
        super().__init__(PatientStream(stream))
        self._terminal = stream
        self._is_dumb = is_dumb
        self._line = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one log line."""
        line = self._line
        self._replace("")
        super().emit(record)
        self._replace(line)

    def show(self, line: str) -> None:
        """Replaces the line below the log by `line`, cut to the width of the terminal; "" leaves none."""
        if self._is_dumb:
            return
        self.acquire()
        try:
            self._replace(line)
        finally:
            self.release()

    def say(self, line: str) -> None:
        """Writes a line that stays, as the log lines do."""
        self.acquire()
        try:
            shown = self._line
            self._replace("")
            self.stream.write(f"{line}\n")
            self._replace(shown)
        finally:
            self.release()

    def _replace(self, line: str) -> None:
        if self._line or line:
            self.stream.write(f"{ERASE_LINE}{line[: self._columns() - 1]}")
        self._line = line

    def _columns(self) -> int:
        """Of the terminal as it is now; the last one stays free, where some terminals would begin a new line."""
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or _USUAL_COLUMNS
        except (OSError, ValueError, AttributeError):  # no terminal, as in tests
            return _USUAL_COLUMNS


def find_console() -> Console | None:
    """The terminal that the log is written to as text; None when it goes elsewhere or is JSON."""
    return next((handler for handler in logging.getLogger().handlers if isinstance(handler, Console)), None)
