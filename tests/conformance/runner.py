"""Runs recorded cases of the reference descheduler against this one and tabulates what passes."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance import calculations, cycle_kinds, eviction_kinds, policy_kinds, utilization_calculations
from tests.conformance.outcomes import CaseTally, difference_or_crash

Vector = Mapping[str, Any]
Check = Callable[[Vector], str | None]

WITHOUT_COUNTERPART = {**calculations.WITHOUT_COUNTERPART, **utilization_calculations.WITHOUT_COUNTERPART}
"""Functions of `calc` cases that this design does not have, each with the reason."""


def _check_calc(vector: Vector) -> str | None:
    if vector["function"] in utilization_calculations.FUNCTIONS:
        return utilization_calculations.check_calc(vector)
    return calculations.check_calc(vector)


_CHECKS: Mapping[str, Check] = {
    "cycle": cycle_kinds.check_cycle,
    "deschedule": cycle_kinds.check_plugin,
    "balance": cycle_kinds.check_plugin,
    "filter": eviction_kinds.check_filter,
    "preevictionfilter": eviction_kinds.check_pre_eviction_filter,
    "nodefit": eviction_kinds.check_nodefit,
    "evict": eviction_kinds.check_evict,
    "validate": policy_kinds.check_validate,
    "decode": policy_kinds.check_decode,
    "defaults": policy_kinds.check_defaults,
    "calc": _check_calc,
}


@dataclass
class Tally(CaseTally):
    """Outcomes by plugin and kind."""

    without_counterpart: Counter[str] = field(default_factory=Counter)

    def add(self, vector: Vector) -> str | None:
        """Checks one case, notes the outcome and returns what differs, if anything."""
        function = vector.get("function")
        if vector["kind"] == "calc" and function in WITHOUT_COUNTERPART:
            self.without_counterpart[str(function)] += 1
            return None
        return self.note(vector["id"], vector["plugin"], vector["kind"], difference_of(vector))

    def table(self) -> str:
        """Passed of all, by plugin (rows) and kind (columns), as a Markdown table."""
        return self.outcomes.table("plugin", self.outcomes.columns, has_sums=True)


def difference_of(vector: Vector) -> str | None:
    """How our answer departs from the recorded one, or None. A crash is a difference too."""
    check = _CHECKS.get(vector["kind"])
    if check is None:
        return f"this runner does not know the kind {vector['kind']!r}"
    return difference_or_crash(check, vector)


def read_vectors(paths: Iterable[Path]) -> Iterator[Vector]:
    """The cases of gzip-compressed or plain JSON Lines files."""
    return map(json.loads, read_lines(paths))


def read_lines(paths: Iterable[Path]) -> Iterator[str]:
    """The same, still as JSON."""
    for path in paths:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            yield from lines
