"""Whole runs that are killed at one of their API calls, and what the next run makes of it.

`python -m tests.migration.roads.killed_runs` kills at every call, before its effect and after; the suite takes
a few of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.leftovers import leftovers
from tests.migration.roads.whole_runs import LEASE_SECONDS, SURGES, WAYS, live_run, observed, policy_of, world

ALL_WAYS = WAYS | SURGES


@cache
def num_calls(name: str) -> int:
    """How many calls a run makes that nobody disturbs."""
    way = ALL_WAYS[name]
    cluster = world(way)
    passage = FaultyWay(cluster.api)
    live_run(cluster, policy_of(way), passage)
    return passage.num_calls


def broken_by_a_kill(name: str, number: int, *, after: bool, waits_for_lease: bool) -> list[str]:
    """What is wrong once the runs after the one that was killed at its call `number` have ended, a sentence each.

    The next run comes when the Lease has run out or, unless `waits_for_lease`, at once, the Lease having been deleted.
    """
    way = ALL_WAYS[name]
    cluster = world(way)
    observer = observed(cluster)
    with suppress(Killed):
        live_run(cluster, policy_of(way), FaultyWay(cluster.api, kill_at=number, kills_after_effect=after))
    if waits_for_lease:
        cluster.clock.sleep(LEASE_SECONDS + 20.0)
    else:
        _delete_leases(cluster)
    left: list[str] = []
    for _ in range(2):  # what was evicted last counts against limits for a while
        live_run(cluster, policy_of(way))
        left += [f"at the end of a run: {text}" for _, text in leftovers(cluster.store)]
        cluster.clock.sleep(400.0)
    stayed = [f"pod {pod['metadata']['name']} has not moved" for pod in cluster.pods(node="n1")]
    return [*left, *map(str, observer.finish()), *stayed]


def _delete_leases(cluster: LivingCluster) -> None:
    for lease in cluster.all("leases.coordination.k8s.io"):
        namespace, name = lease["metadata"]["namespace"], lease["metadata"]["name"]
        path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"
        cluster.client(agent="admin").send("DELETE", path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Kills at every call; returns 1 when anything was lost, left over or done twice."""
    parser = argparse.ArgumentParser(prog="python -m tests.migration.roads.killed_runs", description=__doc__)
    parser.add_argument("--stride", type=int, default=1)
    options = parser.parse_args(arguments)
    num_kills = num_broken = 0
    for name in ALL_WAYS:
        for number in range(1, num_calls(name) + 1, options.stride):
            for after in (False, True):
                broken = broken_by_a_kill(name, number, after=after, waits_for_lease=number % 2 == 0)
                num_kills, num_broken = num_kills + 1, num_broken + bool(broken)
                for sentence in broken:
                    print(f"{name}, {'after' if after else 'before'} call {number}: {sentence}", flush=True)
    print(f"{num_kills} kills, {num_broken} of them with losses")
    return bool(num_broken)


if __name__ == "__main__":
    sys.exit(main())
