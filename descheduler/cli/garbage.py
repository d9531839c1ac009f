"""The cyclic garbage collector of a program that makes few cycles, holds much, and ends soon.

With Python's own thresholds it walks over all that was loaded again and again, and twice more at the end, where the
memory goes back to the system anyway: for 30,000 pods an eighth of the time of a run.
"""

from __future__ import annotations

import gc

__all__ = ["collect_no_more", "collect_rarely"]

_YOUNG_OBJECTS = 250_000
"""New objects, of some 100 bytes, before cycles are looked for among them."""
_ROUNDS = 50
"""Looks at objects of one age before those of the next are looked at."""


def collect_rarely() -> None:
    """Has cycles looked for when many objects are new, in this process."""
    gc.set_threshold(_YOUNG_OBJECTS, _ROUNDS, _ROUNDS)


def collect_no_more() -> None:
    """Takes all that there is out of the collector's sight, for a process that is about to end."""
    gc.freeze()
