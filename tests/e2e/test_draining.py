"""Nodes drained by drainNodes on a real control plane, beside a loop of `kubectl drain` over the same nodes."""

from __future__ import annotations

from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import ControlPlane
from tests.e2e.draining import Drained, drain_in_waves, drain_one_by_one, drained, filled

NUM_NODES, NUM_OLD, NUM_APPS = 200, 10, 40


def played(plane: ControlPlane, name: str) -> Drained:
    cluster = Cluster(plane, f"drain-{name}")
    try:
        nodes = filled(cluster, num_nodes=NUM_NODES, num_old=NUM_OLD, num_apps=NUM_APPS)
        return drained(cluster, nodes, drain_in_waves if name == "waves" else drain_one_by_one)
    finally:
        cluster.clear()


def test_nodes_are_drained_in_waves_with_no_pod_moved_twice(control_plane: ControlPlane) -> None:
    waves, one_by_one = played(control_plane, "waves"), played(control_plane, "one-by-one")

    print(f"in waves: {waves.text}\none by one: {one_by_one.text}")
    assert waves.nodes_in_use == one_by_one.nodes_in_use == []
    assert (waves.num_moved_again, waves.num_violations) == (0, 0)
    assert waves.num_evictions <= one_by_one.num_evictions
