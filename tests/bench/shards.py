"""`python -m tests.bench.shards [--nodes N --pods N --shards N]`: a run over a large cluster, and one of its shards."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tests.bench.dumps import write_generated
from tests.bench.measure import command, in_own_process, megabytes
from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT


def main() -> None:
    """Prints time and memory of a dry run over the whole cluster, then of one over the first shard."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shards")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--pods", type=int, default=600_000)
    parser.add_argument("--shards", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump, policy = Path(folder) / "cluster.jsonl.gz", Path(folder) / "policy.json"
        in_own_process(write_generated, str(dump), options.nodes, options.pods)
        size = megabytes(dump.stat().st_size)
        print(f"dump of {options.nodes:,} nodes and {options.pods:,} pods: {size} compressed", flush=True)
        policy.write_text(json.dumps(policy_of(list(STRATEGIES), node_fit=False, verifies=True)))
        arguments = ["run", "--policy-config-file", str(policy), "--snapshot", str(dump)]
        arguments += ["--now", GENERATED_AT.isoformat(), "--shard-by", "kubernetes.io/hostname"]
        _report("one process", arguments[:-2])
        _report(f"one of {options.shards} shards", [*arguments, f"--shards={options.shards}", "--shard-index=0"])


def _report(who: str, arguments: list[str]) -> None:
    used = command(arguments)
    seconds = f"{used.wall_seconds:.1f} s wall, {used.cpu_seconds:.1f} s CPU"
    print(f"{who}: {seconds}, {megabytes(used.peak_bytes)} peak", flush=True)


if __name__ == "__main__":
    main()
