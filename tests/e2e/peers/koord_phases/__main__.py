"""`python -m tests.e2e.peers.koord_phases FILE [--only TEXT]`: recorded scripts of PodMigrationJobs, played live."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.peers.koord_phases.plane import phases_plane
from tests.e2e.peers.koord_phases.table import play_all, recorded_scripts
from tests.e2e.pins import CONTROL_PLANE, PEERS


def main() -> None:
    """Prints each script, and ends with 1 when this program went through one otherwise than was recorded."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.peers.koord_phases", description=main.__doc__)
    parser.add_argument("file", type=Path, help="recorded cases, gzip")
    parser.add_argument("--only", default="", metavar="TEXT", help="only scripts whose name contains TEXT")
    options = parser.parse_args()
    cases = [case for case in recorded_scripts(options.file) if options.only in case["name"]]
    try:
        binaries = resolve([CONTROL_PLANE, *(each for each in PEERS if each.name == "koordinator")], say=print)
    except BinariesMissingError as error:
        sys.exit(str(error))
    num_other = 0
    with (
        tempfile.TemporaryDirectory(prefix="descheduler-phases-") as folder,
        phases_plane(Path(folder), binaries) as plane,
    ):
        for played in play_all(plane, cases):
            num_other += bool(played.differences)
            print(played, flush=True)
    print(f"{len(cases) - num_other} of {len(cases)} as recorded")
    sys.exit(bool(num_other))


if __name__ == "__main__":
    main()
