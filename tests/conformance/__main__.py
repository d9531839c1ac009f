"""`python -m tests.conformance FILE… [--plugin NAME] [--kind KIND]`: a line a failing case, then a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.conformance.runner import WITHOUT_COUNTERPART, Tally, read_vectors


def main() -> int:
    """Runs the files and returns 1 when any case fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--plugin", help="only cases of this plugin")
    parser.add_argument("--kind", help="only cases of this kind")
    options = parser.parse_args()
    tally = Tally()
    for vector in read_vectors(options.files):
        if options.plugin in (None, vector["plugin"]) and options.kind in (None, vector["kind"]):
            before = len(tally.failures)
            tally.add(vector)
            if len(tally.failures) > before:
                print(f"FAIL {vector['id']}: {tally.failures[vector['id']][:2000]}", flush=True)
    print(tally.table())
    for function, count in sorted(tally.without_counterpart.items()):
        print(f"no counterpart of {function} ({count}): {WITHOUT_COUNTERPART[function]}")
    print(f"{sum(tally.passed.values())} passed, {sum(tally.failed.values())} failed")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
