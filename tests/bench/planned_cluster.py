"""`python -m tests.bench.planned_cluster`: an uneven cluster balanced by a plan, and by LowNodeUtilization, live."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.balancing.contenders import TARGET_PERCENT, Contender, planner, upstream
from tests.e2e.balancing.play import Played, Round, play, uneven_cluster
from tests.e2e.balancing.sight import Sight
from tests.e2e.binaries import Binaries, BinariesMissingError, resolve
from tests.e2e.pins import CONTROL_PLANE, PEERS

CONTENDERS = {
    "plan": planner(),
    "whole-plan": planner(is_limited=False),
    "no-room": planner(is_limited=False, provider="none"),
    "upstream": upstream(underused_percent=TARGET_PERCENT),
    "upstream-usual": upstream(underused_percent=50),
}


def main() -> None:
    """Builds the same cluster for each contender and prints what is left of its imbalance."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.planned_cluster", description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5, help="runs of a contender at most; default 5")
    parser.add_argument("--contender", action="append", choices=CONTENDERS, help="by default all")
    options = parser.parse_args()
    try:
        binaries = resolve((CONTROL_PLANE, *(pins for pins in PEERS if pins.name == "descheduler")), say=_say)
    except BinariesMissingError as error:
        sys.exit(str(error))
    for name in options.contender or CONTENDERS:
        _measure(CONTENDERS[name], binaries, nodes=options.nodes, seed=options.seed, most_runs=options.runs)


def _measure(contender: Contender, binaries: Binaries, *, nodes: int, seed: int, most_runs: int) -> None:
    _say(f"\n{contender.name}: {nodes:,} nodes, seed {seed}")
    with (
        tempfile.TemporaryDirectory(prefix="descheduler-balance-") as folder,
        uneven_cluster(Path(folder) / "plane", binaries, nodes=nodes, seed=seed) as plane,
    ):
        played = play(plane, contender, most_runs=most_runs, tell=lambda each: _say("\n".join(_told(each))))
    for line in _sums(played):
        _say(line)


def _told(each: Round) -> Iterator[str]:
    evicted = f"{each.num_evicted} pods evicted, {len(each.after.pending)} pending"
    over = f"{len(each.before.over(TARGET_PERCENT))} nodes over target → {len(each.after.over(TARGET_PERCENT))}"
    yield f"  run: {each.turn.seconds:.0f} s, {evicted}, {over}"
    for objective in (each.turn.told.get("plan", {}).get("goal") or {}).get("objectives", ()):
        yield f"    goal: {objective['sentence']}"
    if each.num_planned:
        yield f"    {each.num_as_predicted} of {each.num_evicted} replacements on the predicted node"


def _sums(played: Played) -> Iterator[str]:
    before, after = played.before, played.after
    yield f"  {len(before.pods):,} pods; requests {_mean(before)} on average"
    yield f"  nodes over target  {len(before.over(TARGET_PERCENT))} → {len(after.over(TARGET_PERCENT))}"
    yield f"  evictions          {played.num_evicted}"
    yield f"  pods pending       {len(after.pending)}"
    yield f"  runs, seconds      {len(played.rounds)}, {played.seconds:.0f}"


def _mean(seen: Sight) -> str:
    usage = list(seen.usage().values())
    cpu, memory = (sum(shares[place] for shares in usage) / len(usage) for place in range(2))
    return f"{cpu:.1%} of CPU and {memory:.1%} of memory"


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
