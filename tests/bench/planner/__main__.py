"""`python -m tests.bench.planner [--case balance --nodes 100 --seeds 20 --seconds 10 | --work 10]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from descheduler.optimizer import Limits
from tests.bench.planner.cases import CASES, CASES_OF_THE_TRACE, report_in_short


def main() -> None:
    """Prints the figures of one case, or of all in short."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.planner")
    parser.add_argument(
        "--case", choices=sorted({**CASES, **CASES_OF_THE_TRACE}), help="all of them with small clusters unless given"
    )
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--data", type=Path, help="folder with the CSV files of the openb trace")
    parser.add_argument("--seeds", type=int, default=20, help="how many snapshots of each kind")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each plan")
    parser.add_argument("--work", type=float, help="for each plan, in place of seconds: the same on every machine")
    parser.add_argument("--workers", type=int, default=2, help="processes that search")
    options = parser.parse_args()
    limits = Limits(seconds=options.seconds) if options.work is None else Limits(work=options.work)
    if options.case is None:
        report_in_short(num_seeds=options.seeds, limits=limits, num_workers=options.workers)
        return
    seeds = range(options.seeds)
    if options.case in CASES:
        CASES[options.case](nodes=options.nodes, seeds=seeds, limits=limits, num_workers=options.workers)
    elif options.data is None:
        parser.error(f"--case {options.case} needs --data DIR, the folder of the openb trace")
    else:
        report = CASES_OF_THE_TRACE[options.case]
        report(data=options.data, seeds=seeds, limits=limits, num_workers=options.workers)


if __name__ == "__main__":
    main()
