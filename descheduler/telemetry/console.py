"""The log on a terminal, with one line below it that is written again in place."""

from __future__ import annotations

import logging
import os
from typing import TextIO

from descheduler.telemetry.patient_stream import PatientStream

__all__ = ["ERASE_LINE", "Console", "find_console"]

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
