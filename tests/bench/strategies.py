"""Each strategy alone on a large snapshot."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.bench.measure import in_own_process
from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT


def _run_each(dump: str, node_fit: bool) -> Sequence[float]:
    """Seconds and evictions of every strategy, in the order of the table."""
    snapshot = read_dump([Path(dump)], SnapshotRequest(keep_conditions=False))
    _ = snapshot.pods_by_node, snapshot.pods_by_owner
    figures: list[float] = []
    for name in STRATEGIES:
        policy = load_policy(policy_of([name], node_fit=node_fit), REGISTRY)
        started = time.perf_counter()
        decisions = decide(policy, snapshot, now=GENERATED_AT, this_round=Round(most_assessed=0))
        figures += [time.perf_counter() - started, len(decisions.moves)]
    return figures


def report(dump: Path) -> None:
    """Prints a line a strategy: seconds and evictions without and with nodeFit."""
    without = in_own_process(_run_each, str(dump), False).figures
    with_fit = in_own_process(_run_each, str(dump), True).figures
    print(f"{'strategy':<46}{'seconds':>9}{'evicted':>9}{'nodeFit: s':>12}{'evicted':>9}")
    for row, name in enumerate(STRATEGIES):
        seconds, evicted = without[2 * row : 2 * row + 2]
        fit_seconds, fit_evicted = with_fit[2 * row : 2 * row + 2]
        print(f"{name:<46}{seconds:>9.2f}{evicted:>9,.0f}{fit_seconds:>12.2f}{fit_evicted:>9,.0f}")
