"""Which request meets which fault: drawn anew for each, and the same each time a schedule is played."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tests.faults.faults import Fault, Requests


@dataclass(frozen=True, slots=True)
class Rule:
    """Faults of one kind of requests. `rate` is the share that meets one; after `most` of them (None: never) all is
    well again. `paths`, unless empty, names the only lists that are hit."""

    menu: tuple[Fault, ...]
    rate: float = 1.0
    most: int | None = None
    paths: frozenset[str] = frozenset()
    holds_in_second_run: bool = True


class FaultPlan:
    """Draws the fault of each request from its path and its number among those of the path, not from its time: so
    the order in which parallel requests come changes nothing."""

    def __init__(self, seed: int, rules: Mapping[Requests, Rule], at_write: tuple[int, Fault] | None = None) -> None:
        """`at_write` is the number of a call of the first run that changes something, and the fault that it meets."""
        self._seed = seed
        self._at_write = at_write
        self._num_writes = 0
        self._rules = rules
        self._lock = threading.Lock()
        self._num_asked: Counter[tuple[int, str]] = Counter()
        self._num_hit: Counter[tuple[int, Requests]] = Counter()

    def fault_for(self, kind: Requests, path: str, run: int, *, is_write: bool = False) -> Fault | None:
        """The fault that the next request of this path in this run meets."""
        if is_write and not run and self._at_write is not None:
            with self._lock:
                self._num_writes += 1
                if self._num_writes == self._at_write[0]:
                    return self._at_write[1]
        rule = self._rules.get(kind)
        if rule is None or (run and not rule.holds_in_second_run) or (rule.paths and path not in rule.paths):
            return None
        with self._lock:
            self._num_asked[run, path] += 1
            number = self._num_asked[run, path]
            if rule.most is not None and self._num_hit[run, kind] >= rule.most:
                return None
            draw = random.Random(f"{self._seed}/{run}/{kind}/{path}/{number}")
            if draw.random() >= rule.rate:
                return None
            self._num_hit[run, kind] += 1
            return draw.choice(rule.menu)
