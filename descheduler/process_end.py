"""What must not outlive the process: its child processes, and files that are for it alone.

Whoever starts or creates such a thing says here how it is removed, and holds the handle by which that is done: a search
for the children of a process misses those whose parent has ended.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import TypeVar

T = TypeVar("T")

_MAKING_SECONDS = 2.0
"""How long the end of the process waits for something that is just being made."""

_making = threading.RLock()
_numbers = count()
_bound: dict[int, Callable[[], None]] = {}


@contextmanager
def bound_to_process(make: Callable[[], T], remove: Callable[[T], None]) -> Iterator[T]:
    """What `make` returns; `remove` is called with it if the process ends while the context is open.

    In a program that handles signals this is for threads other than the main thread: there a handler can end the
    process after something was made and before it is bound.
    """
    with _making:
        made, number = make(), next(_numbers)
        _bound[number] = partial(remove, made)
    try:
        yield made
    finally:
        _bound.pop(number, None)


def remove_what_is_bound() -> None:
    """Removes everything. For the end of the process: whoever makes more waits from now on, and ends with it."""
    _making.acquire(timeout=_MAKING_SECONDS)
    while _bound:
        _, remove = _bound.popitem()
        with suppress(Exception):  # nobody is left to hear of it
            remove()


atexit.register(remove_what_is_bound)
