"""Nodes drained by drainNodes on a real control plane, beside a loop of `kubectl drain` over the same nodes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import running
from tests.e2e.draining import Drained, drain_in_waves, drain_one_by_one, drained, filled

NUM_NODES = int(os.environ.get("DRAINED_CLUSTER", "80"))
"""`DRAINED_CLUSTER=200` takes some minutes more."""
NUM_OLD, NUM_APPS = NUM_NODES // 20, NUM_NODES // 10


def played(folder: Path, binaries: Binaries, drain: Callable[[Cluster, list[str]], None]) -> Drained:
    """On a control plane of its own: taking so many pods away takes longer than stopping it."""
    with running(folder, binaries) as plane:
        cluster = Cluster(plane, "drain")
        nodes = filled(cluster, num_nodes=NUM_NODES, num_old=NUM_OLD, num_apps=NUM_APPS)
        found = drained(cluster, nodes, drain)
    print(f"{drain.__name__}: {found.text}", flush=True)
    return found


def test_nodes_are_drained_in_waves_with_no_pod_moved_twice(binaries: Binaries, data_folder: Path) -> None:
    waves = played(data_folder / "waves", binaries, drain_in_waves)
    one_by_one = played(data_folder / "one-by-one", binaries, drain_one_by_one)

    assert waves.nodes_in_use == one_by_one.nodes_in_use == []
    assert (waves.num_moved_again, waves.num_violations) == (0, 0)
    assert waves.num_needless <= one_by_one.num_needless
