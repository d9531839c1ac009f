"""Pods that cycles see are told of from view to view, and are there for nobody else."""

from __future__ import annotations

from random import Random

from descheduler.model.pod import Pod
from descheduler.placement.shadow.node_table import CPU_ROW
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.views import SeenPod
from tests.builders import make_node, make_pod, make_snapshot

GUESTS = [SeenPod(make_pod(f"guest{index}", cpu="1", node="a"), index % 2) for index in range(4)]


class Heard:
    """A follower that keeps what it is told, and counts how often."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self.pods: list[tuple[str, int]] = []
        self.num_tells = 0

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """One more."""
        del is_terminating
        self.pods.append((pod.name, node))
        self.num_tells += 1

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """One less."""
        del is_terminating
        self.pods.remove((pod.name, node))
        self.num_tells += 1

    def fingerprint(self) -> object:
        """All of them."""
        return sorted(self.pods)


def two_nodes() -> ShadowCluster:
    return ShadowCluster(make_snapshot([make_node("a"), make_node("b")], [make_pod("own", cpu="2", node="a")]))


def cycle_that_sees(cluster: ShadowCluster, *seen: SeenPod) -> Cycle:
    return Cycle(cluster.placement_class(make_pod("p", node="")), cluster, seen=seen)


def test_pods_that_are_seen_are_gone_after_the_view_for_whoever_asks() -> None:
    cluster = two_nodes()
    before = cluster.digest()
    heard = cluster.follow(Heard)

    with cycle_that_sees(cluster, *GUESTS).view():
        assert cluster.table.requested[CPU_ROW].tolist() == [4000, 2000]
        assert len(heard.pods) == 5

    assert cluster.table.requested[CPU_ROW].tolist() == [2000, 0]
    assert cluster.follow(Heard).pods == [("own", 0)]
    assert cluster.digest() != before  # there is a follower more
    assert cluster.digest() == digest_with_follower(two_nodes())


def digest_with_follower(cluster: ShadowCluster) -> str:
    cluster.follow(Heard)
    return cluster.digest()


def test_nobody_is_told_twice_of_what_the_next_cycle_sees_as_well() -> None:
    cluster = two_nodes()
    heard = cluster.follow(Heard)
    seen = tuple(GUESTS)

    for _ in range(10):
        with Cycle(cluster.placement_class(make_pod("p", node="")), cluster, seen=seen).view():
            pass
    with cycle_that_sees(cluster, *GUESTS[1:]).view():
        pass

    assert heard.num_tells == 1 + 4 + 1


def test_cycle_that_sees_nothing_else_sees_no_pods_of_another() -> None:
    cluster = two_nodes()
    heard = cluster.follow(Heard)

    with cycle_that_sees(cluster, *GUESTS).view():
        pass
    with cycle_that_sees(cluster).view():
        assert heard.pods == [("own", 0)]


def test_views_of_two_cycles_nest() -> None:
    cluster = two_nodes()
    heard = cluster.follow(Heard)

    with cycle_that_sees(cluster, GUESTS[0]).view():
        with cycle_that_sees(cluster, GUESTS[1], GUESTS[2]).view():
            assert len(heard.pods) == 3
        assert sorted(heard.pods) == [("guest0", 0), ("own", 0)]


def test_follower_that_comes_late_is_told_of_what_is_seen() -> None:
    cluster = two_nodes()

    with cycle_that_sees(cluster, *GUESTS).view():
        assert len(cluster.follow(Heard).pods) == 5

    assert cluster.follow(Heard).pods == [("own", 0)]


def test_what_is_done_and_taken_back_meanwhile_leaves_what_is_seen_alone() -> None:
    for seed in range(30):
        draw = Random(seed)
        cluster = two_nodes()
        cluster.follow(Heard)
        before = cluster.digest()
        with cluster.what_if():
            for step in range(8):
                seen = draw.sample(GUESTS, draw.randint(0, 4))
                cluster.add(make_pod(f"more{step}", cpu="1", node="b"), draw.randint(0, 1))
                with cycle_that_sees(cluster, *seen).view():
                    expected = 2000 + 1000 * (step + 1 + len(seen))
                    assert cluster.table.requested[CPU_ROW].sum() == expected
                    assert len(cluster.follow(Heard).pods) == 2 + step + len(seen)
        assert cluster.digest() == before


def test_pods_that_are_not_seen_are_missing_in_the_view_alone() -> None:
    cluster = two_nodes()
    heard = cluster.follow(Heard)
    own = cluster.snapshot.pods[0]
    before = cluster.digest()
    cycle = cycle_that_sees(cluster, GUESTS[1])
    cycle.unseen = (SeenPod(own, 0),)

    for _ in range(2):
        with cycle.view():
            assert cluster.table.requested[CPU_ROW].tolist() == [0, 1000]
            assert heard.pods == [("guest1", 1)]
        assert cluster.table.requested[CPU_ROW].tolist() == [2000, 0]
        assert cluster.follow(Heard).pods == [("own", 0)]
    assert cluster.digest() == before


def test_view_of_a_cycle_within_its_own_view_changes_nothing() -> None:
    cluster = two_nodes()
    cycle = cycle_that_sees(cluster, GUESTS[1])
    cycle.unseen = (SeenPod(cluster.snapshot.pods[0], 0),)

    with cycle.view():
        for _ in range(2):
            with cycle.view():
                assert cluster.table.requested[CPU_ROW].tolist() == [0, 1000]
        assert cluster.table.requested[CPU_ROW].tolist() == [0, 1000]

    assert cluster.table.requested[CPU_ROW].tolist() == [2000, 0]
