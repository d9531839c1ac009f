"""`python -m tests.e2e.closed_loop`: what becomes of the pods that upstream evicts, and of those that we do."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.closed_loop import OURS, SCENARIOS, UPSTREAM, Outcome, Scenario, play_on
from tests.e2e.closed_loop.table import heading, row, total
from tests.e2e.control_plane import running
from tests.e2e.pins import CONTROL_PLANE, PEERS


def main() -> None:
    """Plays every scenario with both programs on one control plane and prints a table.

    Exits 1 when one of our evictions leaves a pod pending or brings it back, when we leave a pod where it is that has
    a place elsewhere, or when upstream does no harm at all.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.closed_loop", description=main.__doc__)
    numbers = range(1, len(SCENARIOS) + 1)
    parser.add_argument("--scenario", type=int, action="append", choices=numbers, metavar="N", help="only this one")
    scenarios = [SCENARIOS[number - 1] for number in parser.parse_args().scenario or numbers]
    try:
        pins = (CONTROL_PLANE, *(pins for pins in PEERS if pins.name == "descheduler"))
        binaries = resolve(pins, say=lambda line: print(line, file=sys.stderr))
    except BinariesMissingError as error:
        sys.exit(str(error))
    print(heading())
    rows: list[tuple[Outcome, Outcome]] = []
    with tempfile.TemporaryDirectory(prefix="descheduler-loop-") as folder, running(Path(folder), binaries) as plane:
        for scenario in scenarios:
            rows.append((play_on(plane, scenario, UPSTREAM), play_on(plane, scenario, OURS)))
            print(row(scenario, *rows[-1]), flush=True)
    print(total(rows))
    sys.exit(_exit_code(scenarios, rows))


def _exit_code(scenarios: list[Scenario], rows: list[tuple[Outcome, Outcome]]) -> int:
    ours_is_right = all(
        not mine.does_harm and mine.num_evicted == scenario.num_landing
        for scenario, (_, mine) in zip(scenarios, rows, strict=True)
    )
    return 0 if ours_is_right and any(theirs.does_harm for theirs, _ in rows) else 1


if __name__ == "__main__":
    main()
