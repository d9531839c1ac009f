"""Writing to standard error without ever being held up by a reader that does not read."""

from __future__ import annotations

import select
import time
from typing import TextIO

__all__ = ["PatientStream"]

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
