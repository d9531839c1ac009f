"""What holds while many objects are loaded at once, and while there are many."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Keeps the cyclic garbage collector off, and restores what it was.

    Snapshots hold no cycles, yet a collector that is on walks all objects loaded so far again and again: a third of
    the time for 150,000 pods. Afterwards it takes them for old: as new ones they would be walked at the next occasion.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _age()
            gc.enable()


def _age() -> None:
    """Puts all objects that there are among the oldest, at once, unless somebody has settled some."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


@contextmanager
def settled_gc() -> Iterator[None]:
    """Spares the cyclic garbage collector all objects that there are by now, and leaves it to those that come.

    Work over a large snapshot makes many objects, and each time their number has grown by a quarter a collector walks
    the snapshot as well. Whoever has settled objects before keeps them so.
    """
    is_settled = gc.get_freeze_count() > 0
    if not is_settled:
        gc.freeze()
    try:
        yield
    finally:
        if not is_settled:
            gc.unfreeze()


def free_cycles() -> None:
    """Frees at once what is not used any more, though its parts refer to one another.

    What a run over a large snapshot has made takes hundreds of megabytes, and is made again each time that plugins are
    asked once more. Objects that were settled before are not walked.
    """
    gc.collect()
