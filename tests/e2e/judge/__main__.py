"""Records what a scheduler does with generated cases: `python -m tests.e2e.judge --worlds 20 --seed 1 -o FILE`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.judge.case import generate_case
from tests.e2e.judge.features import ALL_FEATURES, Feature
from tests.e2e.judge.judge import Judge, judging
from tests.e2e.judge.record import recorded, write_cases
from tests.e2e.judge.seats import SEATS, SchedulerKind
from tests.e2e.kube_api import Object
from tests.e2e.pins import CONTROL_PLANE


class _Tally:
    """Counts of rulings by main feature, and the time they took."""

    def __init__(self) -> None:
        self.landed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.ruling_seconds = 0.0

    def add(self, case: Object) -> None:
        for features, expect in zip(case["features"], case["expect"], strict=True):
            counter = self.landed if "bound_to" in expect else self.refused
            counter[str(features[0].value if features else "plain")] += 1

    def lines(self) -> Iterator[str]:
        yield f"{'feature':<20}{'landed':>8}{'refused':>9}"
        for feature in sorted(self.landed | self.refused):
            yield f"{feature:<20}{self.landed[feature]:>8}{self.refused[feature]:>9}"
        total = self.landed.total() + self.refused.total()
        yield f"{total} rulings, {total / max(self.ruling_seconds, 1e-9):.0f} a second"


def main() -> None:
    """Writes the cases and prints how many pods of each feature landed; exits 1 when a program is missing."""
    arguments = _arguments()
    seat = SEATS[arguments.scheduler]
    features = frozenset(map(Feature, arguments.features)) if arguments.features else ALL_FEATURES
    try:
        binaries = resolve((CONTROL_PLANE, seat.pins), say=lambda line: print(line, file=sys.stderr))
    except BinariesMissingError as error:
        sys.exit(str(error))
    tally = _Tally()
    seeds = range(arguments.seed, arguments.seed + arguments.worlds)
    with (
        tempfile.TemporaryDirectory(prefix="descheduler-judge-") as folder,
        judging(Path(folder), binaries, seat) as judge,
    ):
        write_cases(arguments.output, _cases(judge, seat, seeds, arguments.pods, features, tally))
    print("\n".join(tally.lines()))


def _cases(
    judge: Judge, seat: SchedulerKind, seeds: range, num_pods: int, features: frozenset[Feature], tally: _Tally
) -> Iterator[Object]:
    for seed in seeds:
        case = generate_case(seed, num_pods, features=features)
        started = time.perf_counter()
        rulings = judge.rule_all(case.world, [candidate.pod for candidate in case.candidates])
        tally.ruling_seconds += time.perf_counter() - started
        answered = recorded(case, seat, rulings)
        tally.add(answered)
        yield answered


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.judge", description=__doc__)
    parser.add_argument("--worlds", type=int, default=20, help="number of worlds (20)")
    parser.add_argument("--pods", type=int, default=60, help="candidates in each (60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first world; the next ones follow (1)")
    parser.add_argument("--scheduler", choices=SEATS, default="kube-scheduler", help="who is asked (kube-scheduler)")
    names = [feature.value for feature in Feature]
    parser.add_argument(
        "--features", nargs="+", choices=names, metavar="FEATURE", help=f"only some of {', '.join(names)}"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the .jsonl.gz file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
