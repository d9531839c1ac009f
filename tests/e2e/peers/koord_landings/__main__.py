"""The product against the live koord-scheduler: `python -m tests.e2e.peers.koord_landings --pods 500 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.peers.koord_landings.trial import run_trial
from tests.e2e.pins import CONTROL_PLANE, PEERS


def main() -> None:
    """Prints the table; exits 1 when anything came otherwise than was said."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.peers.koord_landings", description=__doc__)
    parser.add_argument("--pods", type=int, default=500, help="number of pods at least (500)")
    parser.add_argument("--seed", type=int, default=1, help="seed of cluster and pods (1)")
    options = parser.parse_args()
    try:
        binaries = resolve((CONTROL_PLANE, *PEERS), say=lambda line: print(line, file=sys.stderr))
    except BinariesMissingError as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory(prefix="descheduler-koord-") as folder:
        tally = run_trial(Path(folder), binaries, num_pods=options.pods, seed=options.seed)
    print("\n".join(tally.lines()))
    sys.exit(bool(tally.contradictions))


if __name__ == "__main__":
    main()
