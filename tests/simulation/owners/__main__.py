"""Tries many clusters: `python -m tests.simulation.owners --worlds 2000`."""

from __future__ import annotations

import argparse
import sys

from tests.simulation.owners.judging import findings


def main() -> int:
    """Tries as many clusters as asked for, and returns 1 when any comes out otherwise than live."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    found = {seed: findings(seed) for seed in range(args.first, args.first + args.worlds)}
    wrong = {seed: each.problems for seed, each in found.items() if each.problems}
    for seed, problems in wrong.items():
        print(f"world {seed}: {'; '.join(problems)}")
    evicted, refused = (
        sum(each.num_evicted for each in found.values()),
        sum(each.num_refused for each in found.values()),
    )
    print(f"{args.worlds} worlds, {evicted} evictions, {refused} refusals, wrong in {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
