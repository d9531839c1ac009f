"""`python -m tests.bench.roadef --instance DIR/a1_1 --seconds 300 --out FILE`: an instance of the challenge, solved.

Reads `DIR/model_a1_1.txt` and `DIR/assignment_a1_1.txt` (or .gz) and writes the new assignment in the challenge's form.
`--set A --folder DIR --out FOLDER` solves all instances of a set that are there and adds up their gaps.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.order.ordering import order_moves
from tests.bench.roadef.files import Instance, read_instance, write_assignment
from tests.bench.roadef.published import BEST
from tests.bench.roadef.searching import find_assignment


def main() -> None:
    """Prints the cost before and after, the trivial bound, and what an order of the moves takes."""
    options = _parser().parse_args()
    if options.instance is not None:
        _solve(options.instance, options.out, options)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    names = [name for name in BEST if name.startswith(options.set.lower()) and _is_there(options.folder, name)]
    gaps = [_solve(options.folder / name, options.out / f"{name}.txt", options) for name in names]
    print(f"sum of the normalised gaps of {len(gaps)} instances: {sum(gaps):.3f}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.roadef")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--instance", type=Path, help="folder and name, for example DIR/a1_1")
    what.add_argument("--set", choices=("A", "B"), help="all instances of a set that are in --folder")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the files of --set are")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument(
        "--out", type=Path, required=True, help="where the new assignment is written; a folder for --set"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes that search")
    parser.add_argument("--order", action="store_true", help="put the moves in waves with both ends held, too")
    parser.add_argument("--checker", type=Path, help="a program that is given model, assignment, answer and --expect")
    return parser


def _is_there(folder: Path, name: str) -> bool:
    return any((folder / f"model_{name}.txt{ending}").exists() for ending in ("", ".gz"))


def _solve(path: Path, out: Path, options: argparse.Namespace) -> float:
    """The normalised gap of the instance to its published best; 0 where none is known."""
    instance = read_instance(path.parent, path.name)
    prepared = instance.objective.prepare(instance.problem)
    limits = Limits(seconds=options.seconds)
    found = find_assignment(instance, limits, seed=options.seed, num_workers=options.workers)
    write_assignment(out, found)
    before, cost = prepared.value(instance.problem.assignment)[0], prepared.value(found)[0]
    gap = 100 * (cost - BEST.get(path.name, cost)) / before
    moves = len(instance.problem.moved(found))
    bound = prepared.bound()[0]
    print(f"{path.name}: cost {before:,} -> {cost:,}, no cheaper than {bound:,}, gap {gap:.3f}, {moves} moves")
    if options.order:
        _report_order(instance, found)
    if options.checker is not None:
        _check(options.checker, path, out, cost)
    return gap


def _report_order(instance: Instance, found: Ints) -> None:
    ordered = order_moves(instance.problem, found)
    moves = len(instance.problem.moved(found))
    print(f"  {moves} moves in {len(ordered.waves)} waves, {len(ordered.blocked)} blocked")


def _check(checker: Path, path: Path, out: Path, cost: int) -> None:
    """Runs an independent checker. Raises CalledProcessError where it finds a broken rule or another cost."""
    files = [_file(path, kind) for kind in ("model", "assignment")]
    subprocess.run([sys.executable, checker, *files, out, "--expect", str(cost)], check=True)


def _file(path: Path, kind: str) -> Path:
    plain = path.with_name(f"{kind}_{path.name}.txt")
    return plain if plain.exists() else plain.with_name(plain.name + ".gz")


if __name__ == "__main__":
    main()
