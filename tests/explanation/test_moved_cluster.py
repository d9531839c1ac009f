"""The cluster after the moves of a run."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.explanation.explaining import settings_for
from descheduler.explanation.moved_cluster import MovedCluster
from descheduler.model.pod import Pod
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import NOW, make_node, make_pod, make_snapshot

STAYS, GOES = make_pod("stays", cpu="1"), make_pod("goes", cpu="2")
DONE = make_pod("done", cpu="1", phase="Succeeded")
NODES = [make_node("a", taints=["closed:NoSchedule"]), make_node("b", cpu="2")]


def moved(*moves: Pod, others: Sequence[Pod] = ()) -> MovedCluster:
    """After these moves from a, which is closed to all replacements."""
    snapshot = make_snapshot(NODES, [STAYS, GOES, DONE, *others])
    return MovedCluster(snapshot, settings_for(None), moves, now=NOW)


def requested(cluster: ShadowCluster) -> dict[str, int]:
    """What pods request of the CPU of each node, in milli cores."""
    table = cluster.table
    return {name: int(table.requested[table.row("cpu"), place]) for name, place in table.index.items()}


def test_pod_is_gone_only_while_its_eviction_is_looked_at() -> None:
    cluster = moved()

    with cluster.without(STAYS) as without:
        assert requested(without) == {"a": 2000, "b": 0}
    assert requested(cluster.cluster) == {"a": 3000, "b": 0}


def test_pod_that_is_moved_or_holds_no_room_is_not_taken_off_again() -> None:
    after = moved(GOES)

    assert requested(after.cluster) == {"a": 1000, "b": 2000}
    for pod in (GOES, DONE):
        with after.without(pod) as without:
            assert requested(without) == {"a": 1000, "b": 2000}


def test_replacements_of_moves_are_where_they_land() -> None:
    (landing,) = (cluster := moved()).book_all([GOES])

    assert landing.node == "b"
    assert requested(cluster.cluster) == {"a": 1000, "b": 2000}


def test_pending_pods_come_to_the_node_that_has_room_for_them() -> None:
    waits = make_pod("waits", cpu="1", node="", phase="Pending")

    before, after = moved(others=[waits]), moved(GOES, others=[waits])

    assert [[pod.name for pod in before.pending_on(node)] for node in "ab"] == [[], ["waits"]]
    with before.settled() as settled:
        assert requested(settled) == {"a": 3000, "b": 1000}
    assert after.pending_on("a") == []
