"""`python -m tests.migration.random_rounds --clusters 3000` runs seeded clusters and prints what the observer found."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from tests.migration.random_rounds.runs import make_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs as many clusters as asked for; returns 1 when any run broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.migration.random_rounds", description=__doc__)
    parser.add_argument("--clusters", type=int, default=3000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    runs = [make_run(options.first_seed + number) for number in range(options.clusters)]
    broken = [run for run in runs if run.faults]
    for run in broken:
        print(f"seed {run.seed}: {'; '.join(run.faults)}")
    kinds = Counter(fault.rpartition(": ")[2] for run in broken for fault in run.faults)
    for kind, number in kinds.most_common():
        print(f"{number:6} {kind}")
    for plugin, number in Counter(deed.plugin for run in runs for deed in run.deeds).most_common():
        print(f"{number:6} evictions by {plugin}")
    num_again = sum(run.num_rounds > 1 for run in runs)
    num_deeds = sum(len(run.deeds) for run in runs)
    print(f"{len(runs)} clusters, {num_again} decided again, {num_deeds} evictions, {len(broken)} broke a promise")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
