"""In how many runs in a row pods have occupied what a node reserves, as people edit reservations by hand."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from itertools import islice

import msgspec

from descheduler.plan.run_memory import PluginMemory
from descheduler.strategies.node_reservation.reserving_node import ReservingNode

__all__ = ["MOST_NODES", "Observations"]

MOST_NODES = 5_000
"""Nodes that are remembered, the first by name; each takes some 60 bytes."""


class _Observation(msgspec.Struct, array_like=True):
    """A node whose reservation, told by its `digest`, was violated in `num_runs` runs in a row; the last of them that
    counted was at `counted_at`, in seconds since 1970."""

    digest: str
    num_runs: int
    counted_at: float


class Observations:
    """What is seen in the run at `now`, on top of what the last run has left in `memory`.

    Runs that are less than `interval` apart count once. A note that cannot be read counts as none.
    """

    def __init__(self, memory: PluginMemory, now: datetime, interval: timedelta, required: int) -> None:
        self._before = _read(memory.note)
        self._now = now.astimezone(UTC).timestamp()
        self._interval = interval.total_seconds()
        self._missing = memory.missing
        self._required = required
        self._seen: dict[str, _Observation] = {}

    def see(self, node: ReservingNode) -> None:
        """Counts that what `node` reserves is occupied. Under another reservation, counting starts anew."""
        digest = hashlib.sha256(repr(node.stated).encode()).hexdigest()[:8]
        last = self._before.get(node.name)
        seen = _Observation(digest, 1, self._now)
        if last is not None and last.digest == digest:
            counts = self._now - last.counted_at >= self._interval
            seen = _Observation(digest, last.num_runs + 1, self._now) if counts else last
        self._seen[node.name] = seen

    def waits(self, node_name: str) -> bool:
        """Whether it takes more runs until pods of the node are evicted."""
        seen = self._seen.get(node_name)
        return seen is not None and seen.num_runs < self._required

    def sentence(self, node_name: str) -> str:
        """In how many runs it was seen so far, and how many it takes."""
        number = self._seen[node_name].num_runs
        limit = f"(consecutiveObservations: {self._required})"
        if self._missing:
            return f"seen for the first time, {self._required} runs in a row are required {limit}; {self._missing}"
        if number == 1 and self._required == 2:
            return f"seen for the first time, evicted from the next run on {limit}"
        seen = "for the first time" if number == 1 else f"in {number} runs in a row so far"
        return f"seen {seen}, {self._required} are required {limit}"

    def note(self) -> bytes:
        """What the next run has to know; empty when it is nothing."""
        return msgspec.json.encode(dict(islice(sorted(self._seen.items()), MOST_NODES))) if self._seen else b""


def _read(note: bytes) -> dict[str, _Observation]:
    if not note:
        return {}
    try:
        return msgspec.json.decode(note, type=dict[str, _Observation])
    except (ValueError, RecursionError):
        return {}
