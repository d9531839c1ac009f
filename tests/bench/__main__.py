"""`python -m tests.bench [--nodes N --pods N]`: every figure in one run."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import msgspec

from descheduler.cluster.generate import GENERATED_AT, generate_cluster
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.wire import ObjectHeader
from descheduler.cluster.write import write_dump
from tests.bench import decoding, strategies
from tests.bench.measure import command, megabytes
from tests.bench.policies import STRATEGIES, policy_of


def main() -> None:
    """Prints decoding, strategies, whole cycles and start-up."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--slice", type=int, default=3000, help="pods for the slower decoders")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        decoding.report(options.pods, options.slice)
        dump = _write_dump(Path(folder), options.nodes, options.pods)
        strategies.report(dump)
        _report_cycles(Path(folder), dump)
        _report_startup(Path(folder))


def _write_dump(folder: Path, nodes: int, pods: int) -> Path:
    dump = folder / "cluster.jsonl.gz"
    pages: dict[str, list[bytes]] = {}
    for page in generate_cluster(nodes=nodes, pods=pods, seed=1):
        kind = msgspec.json.decode(page, type=ObjectHeader).kind or ""
        pages.setdefault(kind.removesuffix("List"), []).append(page)
    with dump.open("wb") as out:
        write_dump([(KINDS[kind], group) for kind, group in pages.items()], out, taken_at=GENERATED_AT)
    print(f"dump of {nodes:,} nodes and {pods:,} pods: {megabytes(dump.stat().st_size)} compressed")
    return dump


def _report_cycles(folder: Path, dump: Path) -> None:
    for node_fit in (False, True):
        policy = folder / "policy.json"
        policy.write_text(json.dumps(policy_of(list(STRATEGIES), node_fit=node_fit)))
        now = GENERATED_AT.isoformat()
        arguments = ["run", "--policy-config-file", str(policy), "--snapshot", str(dump), "--now", now]
        used = command(arguments)
        print(
            f"whole dry run, all strategies, nodeFit {'on' if node_fit else 'off'}: {used.wall_seconds:.1f} s wall, "
            f"{used.cpu_seconds:.1f} s CPU, {megabytes(used.peak_bytes)} peak"
        )


def _report_startup(folder: Path) -> None:
    policy = folder / "policy.json"
    for arguments in (["--help"], ["validate", str(policy)]):
        best = min(command(arguments).cpu_seconds for _ in range(5))
        print(f"descheduler {arguments[0]}: {best * 1000:.0f} ms CPU")


if __name__ == "__main__":
    main()
