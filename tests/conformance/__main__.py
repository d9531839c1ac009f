"""`python -m tests.conformance FILE… [--plugin NAME] [--kind KIND] [--class NAME]`: runs recorded cases.

Prints a line a failing case, then a table for the descheduler, one for the scheduler, one for Koordinator, one for
owners of pods and one for Volcano, whichever the files hold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.conformance.koordinator.cases import KoordinatorTally, is_koordinator_case
from tests.conformance.owners.cases import OwnerTally, is_owner_case
from tests.conformance.runner import WITHOUT_COUNTERPART, Tally, read_vectors
from tests.conformance.scheduler_cases import is_scheduler_case
from tests.conformance.scheduler_tally import SchedulerTally
from tests.conformance.volcano.cases import VolcanoTally, is_volcano_case

_LINE_LENGTH = 2000


def main() -> int:
    """Runs the files and returns 1 when any case fails."""
    options = _parse()
    wanted = {name: value for name, value in vars(options).items() if name != "files" and value is not None}
    deschedulings, placements, koordinator, owners = Tally(), SchedulerTally(), KoordinatorTally(), OwnerTally()
    volcano = VolcanoTally()
    for vector in read_vectors(options.files):
        if all(vector.get(name) == value for name, value in wanted.items()):
            if is_volcano_case(vector):
                failure = volcano.add(vector)
            elif is_owner_case(vector):
                failure = owners.add(vector)
            elif is_koordinator_case(vector):
                failure = koordinator.add(vector)
            else:
                failure = (placements if is_scheduler_case(vector) else deschedulings).add(vector)
            if failure is not None:
                print(f"FAIL {vector['id']}: {failure[:_LINE_LENGTH]}", flush=True)
    for case_id, note in placements.notes.items():
        print(f"NOTE {case_id}: {note[:_LINE_LENGTH]}")
    tallies = (deschedulings, placements, koordinator, owners, volcano)
    for tally in tallies:
        if tally.num_passed or tally.num_failed:
            print(tally.table())
    for function, count in sorted(deschedulings.without_counterpart.items()):
        print(f"no counterpart of {function} ({count}): {WITHOUT_COUNTERPART[function]}")
    num_failed = sum(tally.num_failed for tally in tallies)
    print(f"{sum(tally.num_passed for tally in tallies)} passed, {num_failed} failed")
    return 1 if num_failed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--plugin", help="only cases of this plugin of the descheduler")
    parser.add_argument("--kind", help="only cases of this kind of the descheduler")
    parser.add_argument("--class", metavar="NAME", help="only cases of this class, but those of the descheduler")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
