"""Chooses the recorded cases that the repository carries: `python -m tests.conformance.subset FULL_DIR`.

All unit cases, and of the generated ones the smallest of every plugin, kind and tag until the budget is spent, dealt
out in turn so that every group gets its share.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path

VECTORS = Path(__file__).parent / "vectors"
FILES = ("unit.jsonl.gz", "differential.jsonl.gz")
_BUDGET_BYTES = 4_000_000
"""Of compressed generated cases; a case is charged with its own compressed size, which overstates it."""


def main() -> None:
    """Writes the subset beside this module."""
    full = Path(sys.argv[1])
    for name in FILES:
        with gzip.open(full / name, "rt", encoding="utf-8") as lines:
            chosen = list(lines) if name == FILES[0] else _choose(list(lines))
        with (VECTORS / name).open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as out:
            out.writelines(line.encode() for line in chosen)
        print(f"{name}: {len(chosen)} cases, {(VECTORS / name).stat().st_size:,} bytes")


def _choose(lines: list[str]) -> list[str]:
    sizes = [len(gzip.compress(line.encode())) for line in lines]
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index in sorted(range(len(lines)), key=lambda index: sizes[index]):
        vector = json.loads(lines[index])
        groups[vector["plugin"], vector["kind"], *sorted(vector.get("tags", ()))].append(index)
    chosen: set[int] = set()
    spent = 0
    while any(groups.values()):
        for members in groups.values():
            if not members:
                continue
            index = members.pop(0)
            if spent + sizes[index] <= _BUDGET_BYTES:
                chosen.add(index)
                spent += sizes[index]
            else:
                members.clear()
    return [lines[index] for index in sorted(chosen)]


if __name__ == "__main__":
    main()
