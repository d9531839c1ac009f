"""`python -m tests.bench.shards [--nodes N --pods N --evictions N]`: runs over a large cluster and its shards."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from descheduler.cluster.dumps.read import read_dump
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.policy.load import load_policy
from tests.bench.dumps import write_generated
from tests.bench.measure import Usage, in_own_process, megabytes, run_command
from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT

POLICY = policy_of(list(STRATEGIES), node_fit=False, verifies=True)


def main() -> None:
    """Prints time and memory of reading a dump, of a dry run over the whole cluster, and of one over each shard."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shards")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--pods", type=int, default=600_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--dump", type=Path, help="keep the dump in this file, and take it from there the next time")
    parser.add_argument("--evictions", type=int, help="maxNoOfPodsToEvictTotal of the policy; no limit without it")
    parser.add_argument("--limit-seconds", type=float, default=0.0, help="end a run after this time; 0 for never")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump, policy = options.dump or Path(folder) / "cluster.jsonl.gz", Path(folder) / "policy.json"
        if not dump.exists():
            in_own_process(write_generated, str(dump), options.nodes, options.pods)
        print(f"dump: {megabytes(dump.stat().st_size)} compressed", flush=True)
        reading = in_own_process(read, str(dump))
        num_nodes, num_pods = reading.figures
        _report(f"reading {num_nodes:,.0f} nodes and {num_pods:,.0f} pods", reading)
        limit = {} if options.evictions is None else {"maxNoOfPodsToEvictTotal": options.evictions}
        policy.write_text(json.dumps({**POLICY, **limit}))
        arguments = ["run", "--policy-config-file", str(policy), "--snapshot", str(dump), "-q"]
        command = [sys.executable, "-m", "descheduler", *arguments, "--now", GENERATED_AT.isoformat()]
        named = [f"--shards={options.shards}", "--shard-by=kubernetes.io/hostname"]
        shards = {f"shard {index}": [*named, f"--shard-index={index}"] for index in range(options.shards)}
        for who, flags in {"one process": [], **shards}.items():
            log = Path(folder) / "log"
            ended = run_command([*command, *flags], log=log, limit_seconds=options.limit_seconds)
            if ended.exit_code and not ended.was_stopped:
                raise RuntimeError(f"{who}: exit {ended.exit_code}: {log.read_text()}")
            _report(f"{who}, not finished" if ended.was_stopped else who, ended.usage)


def read(dump: str) -> Sequence[float]:
    """Reads the dump as a run does; the numbers of nodes and pods."""
    request = snapshot_request(load_policy(POLICY, REGISTRY), Landings.ASSESSED)
    snapshot = read_dump([Path(dump)], request)
    return len(snapshot.nodes), len(snapshot.pods)


def _report(who: str, used: Usage) -> None:
    seconds = f"{used.wall_seconds:.1f} s wall, {used.cpu_seconds:.1f} s CPU"
    print(f"{who}: {seconds}, {megabytes(used.peak_bytes)} peak", flush=True)


if __name__ == "__main__":
    main()
