"""`python -m tests.bench.planner.versus [--only NAME] [--data PATH] [--seconds S | --work W]`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from descheduler.cluster.snapshot import SnapshotError
from descheduler.optimizer import Limits
from tests.bench.planner.versus.comparison import Comparison, MissingDataError, Options
from tests.bench.planner.versus.openb import OPENB
from tests.bench.planner.versus.priorities import PRIORITIES
from tests.bench.planner.versus.rebalancer import REBALANCER
from tests.bench.planner.versus.vmr2l import VMR2L

COMPARISONS = (VMR2L, OPENB, PRIORITIES, REBALANCER)


def main(arguments: list[str] | None = None) -> None:
    """Prints each comparison that is asked for, or why it cannot run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.planner.versus", description=_table())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", choices=[each.name for each in COMPARISONS], help="one comparison instead of all")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("DESCHEDULER_BENCH_DATA"), help="file, or folder of all data"
    )
    parser.add_argument("--seconds", type=float, help="for each plan; each comparison has its own default")
    parser.add_argument("--work", type=float, help="for each plan, in place of seconds: the same on every machine")
    parser.add_argument("--longer", type=float, metavar="SECONDS", help="and once with so many seconds (vmr2l: 600)")
    parser.add_argument("--seeds", type=int, default=1, help="plans for each world")
    parser.add_argument("--workers", type=int, default=1, help="processes that search")
    told = parser.parse_args(arguments)
    limited = told.seconds is not None or told.work is not None
    options = Options(
        data=told.data,
        limits=Limits(told.seconds, told.work) if limited else None,
        longer=None if told.longer is None else Limits(told.longer),
        num_seeds=told.seeds,
        num_workers=told.workers,
    )
    for comparison in COMPARISONS:
        if told.only in (None, comparison.name):
            _print(comparison, options)


def _table() -> str:
    """The comparisons as rows."""
    return "\n".join(
        f"{each.name}: beside {each.rival}" + (f"; needs {each.needs}" if each.needs else "") for each in COMPARISONS
    )


def _print(comparison: Comparison, options: Options) -> None:
    print(f"{comparison.name}, beside {comparison.rival}")
    try:
        for line in comparison.lines(options):
            print(f"  {line}", flush=True)
    except (MissingDataError, SnapshotError) as error:
        print(f"  not run: {error}", flush=True)


if __name__ == "__main__":
    main()
