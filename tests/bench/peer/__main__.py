"""`python -m tests.bench.peer`: what both programs, and the API server for them, take on one live cluster."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tests.bench.peer.cases import CASES, Case
from tests.bench.peer.clusters import filled_cluster, settle, stir
from tests.bench.peer.measure import Run, measured
from tests.bench.peer.programs import Job, Program, compile_ours, ours, upstream
from tests.bench.peer.table import render
from tests.e2e.binaries import Binaries, BinariesMissingError, resolve
from tests.e2e.control_plane import ControlPlane
from tests.e2e.pins import CONTROL_PLANE, PEERS

_SIZES = ("1000x30000", "5000x150000")


def main() -> None:
    """Fills a cluster of each size once and measures every case on it, the programs taking turns."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peer", description=main.__doc__)
    parser.add_argument("--size", action="append", metavar="NODESxPODS", help=f"by default {' and '.join(_SIZES)}")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program; default 3")
    parser.add_argument("--case", type=int, action="append", metavar="N", help=f"1 to {len(CASES)}; by default all")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="longest run; default 600")
    options = parser.parse_args()
    cases = [CASES[number - 1] for number in options.case or range(1, len(CASES) + 1)]
    try:
        binaries = resolve((CONTROL_PLANE, *(pins for pins in PEERS if pins.name == "descheduler")), say=_say)
    except BinariesMissingError as error:
        sys.exit(str(error))
    compile_ours()
    for size in options.size or _SIZES:
        nodes, _, pods = size.partition("x")
        _measure_size(int(nodes), int(pods), cases, binaries, num_runs=options.runs, limit_seconds=options.limit)


def _measure_size(
    nodes: int, pods: int, cases: Sequence[Case], binaries: Binaries, *, num_runs: int, limit_seconds: float
) -> None:
    with tempfile.TemporaryDirectory(prefix="descheduler-peer-") as folder:
        place = Path(folder)
        with filled_cluster(place / "plane", binaries, nodes=nodes, pods=pods) as plane:
            programs = (upstream(binaries), ours())
            for case in cases:
                job = Job(plane.kubeconfig, case.write_policy(place, datetime.now(UTC)), dry_run=case.evicts)
                title = f"{nodes:,} nodes, {pods:,} pods: {case.title}"
                _say(render(f"\n{title}", _alternate(programs, job, plane, num_runs, limit_seconds)))


def _alternate(
    programs: Sequence[Program], job: Job, plane: ControlPlane, num_runs: int, limit_seconds: float
) -> dict[str, list[Run]]:
    server = plane["kube-apiserver"]
    runs: dict[str, list[Run]] = {program.name: [] for program in programs}
    for number in range(num_runs):
        for program in programs:
            stir(plane.api, number)
            settle(plane.api)
            load = os.getloadavg()[0]
            run = measured(program, job, lambda: server.cpu_seconds, limit_seconds=limit_seconds)
            runs[program.name].append(run)
            _say(f"  {program.name} {number + 1}: {run.usage.wall_seconds:.1f} s, load before {load:.1f}", sys.stderr)
    return runs


def _say(line: str, out: TextIO = sys.stdout) -> None:
    print(line, file=out, flush=True)


if __name__ == "__main__":
    main()
