"""Where the pods of a synthetic cluster run: mostly sound choices, with a stated share of bad ones."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate

from tests.worlds.synthetic_nodes import Place
from tests.worlds.synthetic_workloads import Workload

_NUM_TRIES = 8


class SyntheticScheduler:
    """Draws nodes of a workload's pool, by weight, until one has room; eight misses leave the pod waiting.

    One pod in thirty goes where its predecessor went, and one workload in ten with a zone constraint leans to one
    zone: these are the duplicates, the broken anti-affinity and the skew that strategies look for.
    """

    def __init__(self, places: Sequence[Place], rng: random.Random) -> None:
        self._places = places
        self._rng = rng
        self._pools: dict[tuple[str, str], tuple[list[Place], list[float]]] = {}
        for place in places:
            for key in ((place.pool.name, ""), (place.pool.name, place.zone)):
                self._pools.setdefault(key, ([], []))[0].append(place)
        for members, bounds in self._pools.values():
            bounds.extend(accumulate(place.weight for place in members))

    def place_all(self, workload: Workload) -> Iterator[Place | None]:
        """The node of each pod of `workload`, None for a pod that waits."""
        if workload.kind == "DaemonSet":
            yield from self._one_each(workload)
            return
        zones = sorted({place.zone for place in self._places})
        leans = workload.index % 10 == 1
        previous: Place | None = None
        used: set[int] = set()
        for ordinal in range(workload.num_pods):
            zone = ""
            if workload.trait == "spread" and zones:
                zone = zones[0] if leans and ordinal % 2 else zones[ordinal % len(zones)]
            place = previous if previous and self._rng.random() < 1 / 30 else None
            if place is None or not place.has_room(workload.cpu_milli, workload.memory_mib):
                place = self._draw(workload, zone, used if workload.trait == "anti-affinity" else set())
            if place is not None:
                place.take(workload.cpu_milli, workload.memory_mib)
                used.add(place.index)
            previous = place
            yield place

    def _one_each(self, workload: Workload) -> Iterator[Place]:
        for place in self._places:
            place.take(workload.cpu_milli, workload.memory_mib)
            yield place

    def _draw(self, workload: Workload, zone: str, avoid: set[int]) -> Place | None:
        members, bounds = self._pools.get((workload.pool, zone)) or self._pools.get((workload.pool, ""), ([], []))
        if not members:
            return None
        for _ in range(_NUM_TRIES):
            place = members[min(bisect(bounds, self._rng.random() * bounds[-1]), len(members) - 1)]
            if place.index not in avoid and place.has_room(workload.cpu_milli, workload.memory_mib):
                return place
        return None
