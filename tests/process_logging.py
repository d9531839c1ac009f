"""The process's logging, which commands set up and tests must not hear of from each other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def restored() -> Iterator[None]:
    """Leaves the process's logging as it was."""
    root, own = logging.getLogger(), logging.getLogger("descheduler")
    handlers, levels = root.handlers[:], (root.level, own.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])
    logging.captureWarnings(False)
