"""In how many runs in a row pods have occupied what a node reserves, as people edit reservations by hand."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

import msgspec

from descheduler.model.text.duration import format_duration
from descheduler.plan.run_memory import PluginMemory
from descheduler.strategies.remove_pods_violating_node_reservation.reserving_node import ReservingNode

MOST_NODES = 5_000
"""Nodes that are remembered, the first by name; each takes some 60 bytes."""


class Required(NamedTuple):
    """When pods are evicted: after so many runs in a row, or once the first of them is so long ago.

    Either is enough, and at least one is set.
    """

    num_runs: int | None
    age: timedelta | None

    def __str__(self) -> str:
        """The keys of the policy with their values."""
        runs = "" if self.num_runs is None else f"consecutiveObservations: {self.num_runs}"
        age = "" if self.age is None else f"minReservationAgeSeconds: {self.age.total_seconds():.0f}"
        return ", ".join(filter(None, (runs, age)))


class _Observation(msgspec.Struct, array_like=True):
    """A node whose reservation, told by its `digest`, was violated in `num_runs` runs in a row; the last of them that
    counted was at `counted_at`, and the first at `since`, in seconds since 1970.
    """

    digest: str
    num_runs: int
    counted_at: float
    since: float | None = None


_decode_observations = msgspec.json.Decoder(dict[str, _Observation]).decode


class Observations:
    """What is seen in the run at `now`, on top of what the last run has left in `memory`.

    Runs that are less than `interval` apart count once. A note that cannot be read counts as none.
    """

    def __init__(self, memory: PluginMemory, now: datetime, interval: timedelta, required: Required) -> None:
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
        seen = _Observation(digest, 1, self._now, self._now)
        if last is not None and last.digest == digest:
            counts = self._now - last.counted_at >= self._interval
            # Notes of earlier versions do not tell the first one.
            since = min(self._now, last.counted_at if last.since is None else last.since)
            seen = _Observation(digest, last.num_runs + 1, self._now, since) if counts else last
        self._seen[node.name] = seen

    def waits(self, node_name: str) -> bool:
        """Whether it takes more runs, or more time, until pods of the node are evicted."""
        seen, required = self._seen.get(node_name), self._required
        if seen is None:
            return False
        is_often_enough = required.num_runs is not None and seen.num_runs >= required.num_runs
        is_long_enough = required.age is not None and self._seconds(seen) >= required.age.total_seconds()
        return not (is_often_enough or is_long_enough)

    def sentence(self, node_name: str) -> str:
        """In how many runs it was seen so far, and how many it takes."""
        seen, (number, age) = self._seen[node_name], self._required
        first = "seen for the first time" if seen.num_runs == 1 else f"seen in {seen.num_runs} runs in a row so far"
        if age is not None:
            ways = f"{number} runs or {format_duration(age)}" if number is not None else format_duration(age)
            so_far = (
                "" if seen.num_runs == 1 else f" since {format_duration(timedelta(seconds=int(self._seconds(seen))))}"
            )
            required = f"{first}{so_far}, {ways} required"
        elif self._missing:
            required = f"{first}, {number} runs in a row are required"
        elif number == 2:
            required = f"{first}, evicted from the next run on"
        else:
            required = f"{first}, {number} are required"
        return "; ".join(filter(None, (f"{required} ({self._required})", self._missing)))

    def _seconds(self, seen: _Observation) -> float:
        """How long ago it was seen first. A note that was damaged may hold a time before 1970."""
        since = seen.counted_at if seen.since is None else seen.since
        return max(0.0, self._now - max(0.0, since))

    def note(self) -> bytes:
        """What the next run has to know; empty when it is nothing."""
        return msgspec.json.encode(dict(islice(sorted(self._seen.items()), MOST_NODES))) if self._seen else b""


def _read(note: bytes) -> dict[str, _Observation]:
    if not note:
        return {}
    try:
        return _decode_observations(note)
    except (ValueError, RecursionError):
        return {}
