"""`python -m tests.faults`: plays schedules, shows the tables, and exits with 1 when a promise is broken."""

from __future__ import annotations

import argparse
import sys
import time

from tests.faults.campaign import Campaign, Played
from tests.faults.rooms.matrix import each_write
from tests.faults.schedule import draw_schedule
from tests.faults.story import story
from tests.faults.tally import Tally


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--schedules", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first (default: 1)")
    parser.add_argument("--jobs", type=int, default=8, help="how many at a time; most of them wait (default: 8)")
    parser.add_argument("--each-write", action="store_true", help="every trouble at every write of a small run instead")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="tell what happened in each, not only where a promise is broken"
    )
    return parser.parse_args()


def _show(played: Played, *, is_verbose: bool) -> None:
    if is_verbose or played.broken:  # what hangs on the load of a machine does not happen twice
        print(story(played))
    for broken in played.broken:
        print(f"seed {broken.seed}: {broken.promise}: {broken.story}", flush=True)


def main() -> int:
    """The exit code."""
    arguments, tally, started_at = _arguments(), Tally(), time.monotonic()
    with Campaign() as campaign:
        seeds = range(arguments.seed, arguments.seed + arguments.schedules)
        schedules = each_write() if arguments.each_write else map(draw_schedule, seeds)
        for played in campaign.play_schedules(schedules, num_jobs=arguments.jobs):
            tally.add(played)
            _show(played, is_verbose=arguments.verbose)
    print(f"\n{tally.text()}\n\n{time.monotonic() - started_at:.0f} s")
    return 1 if tally.num_broken else 0


if __name__ == "__main__":
    sys.exit(main())
