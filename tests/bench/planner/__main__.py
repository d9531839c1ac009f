"""`python -m tests.bench.planner --case balance --nodes 100 --seeds 20 --seconds 10`."""

from __future__ import annotations

import argparse
from pathlib import Path

from descheduler.planner import Limits
from tests.bench.planner import balance, consolidate, make_room, openb, vmr2l

_CASES = {
    "balance": balance.report,
    "consolidate": consolidate.report,
    "make-room": make_room.report,
}
_CASES_OF_ONE_SIZE = {"vmr2l": vmr2l.report}
_CASES_OF_THE_TRACE = {"openb-fragmentation": openb.report_fragmentation, "openb-room": openb.report_room}


def main() -> None:
    """Prints the figures of one case."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.planner")
    parser.add_argument(
        "--case", choices=sorted({**_CASES, **_CASES_OF_ONE_SIZE, **_CASES_OF_THE_TRACE}), required=True
    )
    parser.add_argument("--nodes", type=int, default=100, help="of generated clusters")
    parser.add_argument("--data", type=Path, help="folder with the CSV files of the openb trace")
    parser.add_argument("--seeds", type=int, default=20, help="how many snapshots of each kind")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each plan")
    parser.add_argument("--workers", type=int, default=2, help="processes that search")
    options = parser.parse_args()
    common = {
        "seeds": range(options.seeds),
        "limits": Limits(seconds=options.seconds),
        "num_workers": options.workers,
    }
    if options.case in _CASES:
        _CASES[options.case](nodes=options.nodes, **common)
    elif options.case in _CASES_OF_ONE_SIZE:
        _CASES_OF_ONE_SIZE[options.case](**common)
    elif options.data is None:
        parser.error(f"--case {options.case} needs --data DIR, the folder of the openb trace")
    else:
        _CASES_OF_THE_TRACE[options.case](data=options.data, **common)


if __name__ == "__main__":
    main()
