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
class Tally:
    """Outcomes by plugin and kind; `failures` maps the id of a case to what differs."""

    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    without_counterpart: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, vector: Vector) -> None:
        """Checks one case and notes the outcome."""
        row = (vector["plugin"], vector["kind"])
        function = vector.get("function")
        if vector["kind"] == "calc" and function in WITHOUT_COUNTERPART:
            self.without_counterpart[str(function)] += 1
            return
        difference = difference_of(vector)
        if difference is None:
            self.passed[row] += 1
        else:
            self.failed[row] += 1
            self.failures[vector["id"]] = difference

    def table(self) -> str:
        """Passed of all, by plugin (rows) and kind (columns), as a Markdown table."""
        rows = {**self.passed, **self.failed}
        kinds = sorted({kind for _, kind in rows})
        lines = ["| plugin | " + " | ".join(kinds) + " | all |", "|---|" + "---:|" * (len(kinds) + 1)]
        for plugin in sorted({plugin for plugin, _ in rows}):
            cells = [(self.passed[plugin, kind], self.failed[plugin, kind]) for kind in kinds]
            lines.append(_row(plugin, cells))
        totals = [(_of_kind(self.passed, kind), _of_kind(self.failed, kind)) for kind in kinds]
        lines.append(_row("**total**", totals))
        return "\n".join(lines)


def _of_kind(outcomes: Mapping[tuple[str, str], int], kind: str) -> int:
    return sum(count for (_, other), count in outcomes.items() if other == kind)


def _row(name: str, cells: list[tuple[int, int]]) -> str:
    total = (sum(passed for passed, _ in cells), sum(failed for _, failed in cells))
    return f"| {name} | " + " | ".join(_cell(*cell) for cell in [*cells, total]) + " |"


def _cell(passed: int, failed: int) -> str:
    return f"{passed}/{passed + failed}" if passed + failed else ""


def difference_of(vector: Vector) -> str | None:
    """How our answer departs from the recorded one, or None. A crash is a difference too."""
    check = _CHECKS.get(vector["kind"])
    if check is None:
        return f"this runner does not know the kind {vector['kind']!r}"
    try:
        return check(vector)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def read_vectors(paths: Iterable[Path]) -> Iterator[Vector]:
    """The cases of gzip-compressed or plain JSON Lines files."""
    for path in paths:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
