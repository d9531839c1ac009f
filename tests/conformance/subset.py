"""Chooses the recorded cases that the repository carries: `python -m tests.conformance.subset FULL_DIR`.

All unit cases; of the generated ones the smallest of every group until the budget is spent, dealt out in turn so that
every group gets its share. Groups are plugin, kind and tags of a descheduler case, class and mode of a scheduler case,
class of a case of Koordinator, of owners or of Volcano.
Before that, every kind of answer of the scheduler is given the smallest case that shows it.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

VECTORS = Path(__file__).parent / "vectors"
UNIT, DIFFERENTIAL = FILES = "unit.jsonl.gz", "differential.jsonl.gz"
"""Cases of the descheduler."""
SCHEDULER, NEXT_SCHEDULER = SCHEDULERS = "scheduler.jsonl.gz", "scheduler-1.37.jsonl.gz"
"""Cases of the scheduler, of which every candidate is compared in several ways; the second what its next release does
otherwise."""
KOORDINATOR = tuple(
    f"koordinator-{subject}.jsonl.gz"
    for subject in ("coscheduling", "deviceshare", "elasticquota", "lownodeload", "migration", "more", "reservation")
)
"""Cases of Koordinator."""

_DIFFERENTIAL_BYTES = 4_000_000
_SCHEDULER_BYTES, _NEXT_SCHEDULER_BYTES = 1_700_000, 250_000
"""Budgets of compressed cases; a case is charged with its own compressed size, which overstates it."""
_KOORDINATOR_BYTES = 120_000
"""Budget of each file of Koordinator."""
OWNERS = "owners.jsonl.gz"
"""Cases of evictions and of what comes after them."""
_OWNERS_BYTES = 700_000
VOLCANO = "volcano.jsonl.gz"
"""Cases of one scheduling cycle of Volcano."""
_VOLCANO_BYTES = 300_000
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]')

Labels = tuple[str, ...]


class _Case(NamedTuple):
    """One line of a file: what it costs, the group it belongs to, and what the subset must not be without."""

    cost_bytes: int
    group: Labels
    facets: frozenset[Labels] = frozenset()


def main() -> None:
    """Writes the subset beside this module."""
    full = Path(sys.argv[1])
    _write(full, UNIT, lambda lines: lines)
    _write(full, DIFFERENTIAL, lambda lines: _choose(lines, _descheduler_case, _DIFFERENTIAL_BYTES))
    _write(full, SCHEDULER, lambda lines: _choose(lines, _scheduler_case, _SCHEDULER_BYTES))
    _write(full, NEXT_SCHEDULER, lambda lines: _choose(lines, _scheduler_case, _NEXT_SCHEDULER_BYTES))
    for name in KOORDINATOR:
        _write(full, name, lambda lines: _choose(lines, _class_case, _KOORDINATOR_BYTES))
    _write(full, OWNERS, lambda lines: _choose(lines, _class_case, _OWNERS_BYTES))
    _write(full, VOLCANO, lambda lines: _choose(lines, _class_case, _VOLCANO_BYTES))


def _write(full: Path, name: str, choose: Callable[[list[str]], list[str]]) -> None:
    with gzip.open(full / name, "rt", encoding="utf-8") as lines:
        chosen = choose(list(lines))
    with (VECTORS / name).open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as out:
        out.writelines(line.encode() for line in chosen)
    print(f"{name}: {len(chosen)} cases, {(VECTORS / name).stat().st_size:,} bytes")


def _choose(lines: list[str], read: Callable[[str], _Case], budget_bytes: int) -> list[str]:
    cases = [read(line) for line in lines]
    by_size = sorted(range(len(cases)), key=lambda index: cases[index].cost_bytes)
    chosen = _one_of_each_facet(cases, by_size)
    spent = sum(cases[index].cost_bytes for index in chosen)
    groups: dict[Labels, list[int]] = defaultdict(list)
    for index in by_size:
        if index not in chosen:
            groups[cases[index].group].append(index)
    while any(groups.values()):
        for members in groups.values():
            if not members:
                continue
            index = members.pop(0)
            if spent + cases[index].cost_bytes <= budget_bytes:
                chosen.add(index)
                spent += cases[index].cost_bytes
            else:
                members.clear()
    return [lines[index] for index in sorted(chosen)]


def _one_of_each_facet(cases: Sequence[_Case], by_size: Sequence[int]) -> set[int]:
    """The smallest case with each facet; `by_size` are the indices of `cases`, smallest first."""
    seen: set[Labels] = set()
    chosen = set()
    for index in by_size:
        if not cases[index].facets <= seen:
            seen |= cases[index].facets
            chosen.add(index)
    return chosen


def _descheduler_case(line: str) -> _Case:
    vector = json.loads(line)
    return _Case(_compressed(line), (vector["plugin"], vector["kind"], *sorted(vector.get("tags", ()))))


def _scheduler_case(line: str) -> _Case:
    case = json.loads(line)
    facets = {facet for entry in case["expect"] for facet in _facets(entry)}
    return _Case(_compressed(line), (case["class"], case["mode"]), frozenset(facets))


def _class_case(line: str) -> _Case:
    return _Case(_compressed(line), (json.loads(line)["class"],))


def _facets(entry: dict[str, Any]) -> Iterator[Labels]:
    """What one answer shows: its fields, every plugin with code and reason, every plugin whose scores differ."""
    for field in ("prefilter_nodes", "first_failure", "score_error"):
        if field in entry:
            yield (field,)
    refusals = [entry["preenqueue"]] if "preenqueue" in entry else entry.get("prefilter", [])
    for against in [*refusals, *(found for entries in entry.get("rejected", {}).values() for found in entries)]:
        plugin, code, *reasons = against
        for reason in reasons:
            yield plugin, code, _QUOTED.sub("…", reason)
    for plugin, scores in entry.get("scores", {}).items():
        yield "scores", plugin, "of each node" if isinstance(scores, list) else "alike"


def _compressed(line: str) -> int:
    return len(gzip.compress(line.encode()))


if __name__ == "__main__":
    main()
