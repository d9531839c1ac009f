"""`python -m tests.bench [--nodes N --pods N --seeds N --seconds S --workers N]`: every figure in one run."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from descheduler.optimizer import Limits
from tests.bench import decoding, hostile, placement, strategies, volcano
from tests.bench.dumps import write_generated
from tests.bench.koordinator import write_with_koordinator
from tests.bench.measure import command, in_own_process, megabytes
from tests.bench.planner.cases import report_in_short
from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT


def main() -> None:
    """Prints decoding, strategies, whole cycles, hostile worlds, start-up and the planner's trials."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--slice", type=int, default=3000, help="pods for the slower decoders")
    parser.add_argument("--largest", type=int, default=20_000, help="nodes of the largest shadow cluster")
    parser.add_argument("--seeds", type=int, default=3, help="clusters for each of the planner's trials")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each of the planner's plans")
    parser.add_argument("--workers", type=int, default=2, help="the planner's processes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        decoding.report(options.pods, options.slice)
        dump = Path(folder) / "cluster.jsonl.gz"
        # A child starts with the memory of its parent, so whatever is large happens in processes of their own.
        in_own_process(write_generated, str(dump), options.nodes, options.pods)
        size = megabytes(dump.stat().st_size)
        print(f"dump of {options.nodes:,} nodes and {options.pods:,} pods: {size} compressed")
        strategies.report(dump)
        placement.report(dump, largest=options.largest)
        _report_cycles(Path(folder), dump, "")
        in_own_process(write_with_koordinator, str(dump), options.nodes, options.pods)
        _report_cycles(Path(folder), dump, " with Koordinator's objects")
        hostile.report()
        in_own_process(volcano.report, options.nodes)
        _report_startup(Path(folder))
    report_in_short(num_seeds=options.seeds, limits=Limits(seconds=options.seconds), num_workers=options.workers)


def _report_cycles(folder: Path, dump: Path, world: str) -> None:
    for node_fit, verifies in ((False, False), (True, False), (False, True)):
        policy = folder / "policy.json"
        policy.write_text(json.dumps(policy_of(list(STRATEGIES), node_fit=node_fit, verifies=verifies)))
        now = GENERATED_AT.isoformat()
        arguments = ["run", "--policy-config-file", str(policy), "--snapshot", str(dump), "--now", now]
        used = command(arguments)
        print(
            f"whole dry run{world}, all strategies, nodeFit {'on' if node_fit else 'off'}, "
            f"verification {'on' if verifies else 'off'}: {used.wall_seconds:.1f} s wall, "
            f"{used.cpu_seconds:.1f} s CPU, {megabytes(used.peak_bytes)} peak"
        )


def _report_startup(folder: Path) -> None:
    policy = folder / "policy.json"
    for arguments in (["--help"], ["validate", str(policy)]):
        best = min(command(arguments).cpu_seconds for _ in range(5))
        print(f"descheduler {arguments[0]}: {best * 1000:.0f} ms CPU")


if __name__ == "__main__":
    main()
