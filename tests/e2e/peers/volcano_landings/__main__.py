"""The product against the live Volcano: `python -m tests.e2e.peers.volcano_landings --jobs 500 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.peers.volcano_landings.trial import run_trial
from tests.e2e.pins import CONTROL_PLANE, PEERS


def main() -> None:
    """Prints the table; exits 1 when anything came otherwise than was said."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.peers.volcano_landings", description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="number of jobs (500)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the jobs (1)")
    parser.add_argument("--dumps", type=Path, help="folder for the objects of each step that came otherwise (none)")
    options = parser.parse_args()
    if options.dumps is not None:
        options.dumps.mkdir(parents=True, exist_ok=True)
    pins = (CONTROL_PLANE, *(each for each in PEERS if each.name == "volcano"))
    try:
        binaries = resolve(pins, say=lambda line: print(line, file=sys.stderr))
    except BinariesMissingError as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory(prefix="descheduler-volcano-") as folder:
        tally = run_trial(
            Path(folder),
            binaries,
            num_jobs=options.jobs,
            seed=options.seed,
            say=lambda tally: print("\n".join(tally.lines()), file=sys.stderr, flush=True),
            dumps=options.dumps,
        )
    print("\n".join(tally.lines()))
    sys.exit(bool(tally.contradictions))


if __name__ == "__main__":
    main()
