"""`python -m tests.bench.roadef --instance DIR/a1_1 --seconds 300 --out FILE`: an instance of the challenge, solved.

Reads `DIR/model_a1_1.txt` and `DIR/assignment_a1_1.txt` (or .gz) and writes the new assignment in the challenge's form.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from descheduler.planner import Limits, find_assignment
from descheduler.planner.ordering import order_moves
from tests.bench.roadef.files import read_instance, write_assignment


def main() -> None:
    """Prints the cost before and after, the trivial bound, and what an order of the moves takes."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.roadef")
    parser.add_argument("--instance", type=Path, required=True, help="folder and name, for example DIR/a1_1")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--out", type=Path, required=True, help="where the new assignment is written")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes that search")
    parser.add_argument("--best", type=int, help="the best cost known, for the normalised gap")
    parser.add_argument("--order", action="store_true", help="put the moves in waves with both ends held, too")
    options = parser.parse_args()
    instance = read_instance(options.instance.parent, options.instance.name)
    prepared = instance.objective.prepare(instance.problem)
    before = prepared.value(instance.problem.assignment)[0]
    found = find_assignment(
        instance.problem,
        instance.objective,
        Limits(seconds=options.seconds),
        seed=options.seed,
        num_workers=options.workers,
    )
    write_assignment(options.out, found)
    cost = prepared.value(found)[0]
    print(f"{options.instance.name}: cost {before:,} -> {cost:,}, no cheaper than {prepared.bound()[0]:,}")
    if options.best is not None:
        print(f"normalised gap to {options.best:,}: {100 * (cost - options.best) / before:.3f}")
    if options.order:
        ordered = order_moves(instance.problem, found)
        moves = len(instance.problem.moved(found))
        print(
            f"{moves} moves in {len(ordered.waves)} waves, {ordered.num_bounces} bounces, "
            f"{len(ordered.blocked)} blocked"
        )


if __name__ == "__main__":
    main()
