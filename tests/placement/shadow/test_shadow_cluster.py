"""What the shadow cluster does besides holding columns: take changes back, and tell followers of each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.model.pod import Pod
from descheduler.placement.plugins.inter_pod_affinity.term_holders import TermHolders
from descheduler.placement.plugins.node_ports import UsedPorts
from descheduler.placement.plugins.volume_restrictions import ClaimUsers, DiskUsers
from descheduler.placement.plugins.volumes.attached_volumes import AttachedVolumes
from descheduler.placement.plugins.volumes.pod_claims import ClaimOwners
from descheduler.placement.shadow.follower import ChoosyFollower
from descheduler.placement.shadow.node_table import CPU_ROW, PODS_ROW
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster, taken_from
from tests.builders import make_node, make_pod, make_snapshot, required_anti_affinity
from tests.placement.default_scheduler import default_scheduler

NODES = [make_node(name, labels={"zone": zone}) for name, zone in (("a", "east"), ("b", "east"), ("c", "west"))]
PODS = [
    make_pod("web", node="a", cpu="500m", labels={"app": "web"}),
    make_pod("lonely", node="b", labels={"app": "lonely"}, affinity=required_anti_affinity({"app": "web"}, key="zone")),
    make_pod("ending", node="c", cpu="1", deleted=5),
    make_pod("finished", node="c", cpu="1", phase="Succeeded"),
    make_pod("stray", node="gone", cpu="1"),
]


def make_cluster() -> ShadowCluster:
    cluster = ShadowCluster(make_snapshot(NODES, PODS))
    for follower in (PodCounts, TermHolders, UsedPorts):
        cluster.follow(follower)
    return cluster


def test_amounts_beyond_all_measure_are_cut_on_both_sides() -> None:
    pods = [make_pod("huge", node="a", cpu="9E"), make_pod("odd", node="b", cpu="-9E")]

    table = ShadowCluster(make_snapshot(NODES, pods)).table

    assert table.requested[CPU_ROW].tolist() == [2**61, -(2**61), 0]


def test_finished_pods_and_those_of_unknown_nodes_take_no_room() -> None:
    table = make_cluster().table

    assert table.requested[CPU_ROW].tolist() == [500, 0, 1000]
    assert table.requested[PODS_ROW].tolist() == [1, 1, 1]


def test_pod_that_ends_keeps_its_room_until_it_is_gone() -> None:
    cluster = make_cluster()
    before = cluster.digest()

    with cluster.what_if():
        cluster.terminate(PODS[0])
        ending = cluster.table.requested[CPU_ROW, 0]
        cluster.remove(PODS[0])
        gone = cluster.table.requested[CPU_ROW, 0]

    assert (ending, gone) == (500, 0)
    assert cluster.digest() == before


def test_pod_that_is_being_deleted_already_is_not_marked_again() -> None:
    cluster, once = make_cluster(), make_cluster()
    before = cluster.digest()

    cluster.terminate(PODS[2])
    assert cluster.digest() == before
    once.terminate(PODS[0])
    for _ in range(2):
        cluster.terminate(PODS[0])

    assert cluster.digest() == once.digest()
    assert cluster.table.requested[CPU_ROW].tolist() == [500, 0, 1000]


class _Seats:
    """A ledger of one seat a node."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def reserve(self, cycle: Cycle, node: int) -> int | None:
        """Takes the seat, unless it is taken."""
        del cycle
        if node in self.taken:
            return None
        self.taken.append(node)
        return node

    def release(self, taken: int) -> None:
        """Frees it."""
        self.taken.remove(taken)

    def restore(self, taken: int) -> None:
        """Takes it again."""
        self.taken.append(taken)

    def fingerprint(self) -> object:
        """The nodes."""
        return sorted(self.taken)


def test_what_was_taken_for_a_placed_pod_is_told_by_ledger_and_given_back_with_it() -> None:
    cluster = make_cluster()
    first, second, unused = _Seats(), _Seats(), _Seats()
    second.taken = [1]
    cycle = Cycle(cluster.placement_class(make_pod("new", node="", cpu="1")), cluster)

    with cluster.what_if() as trial:
        placed = cluster.place(cycle, 1, [first, second])
        found = [taken_from(placed.takings, each) for each in (first, second, unused)]
        changes = trial.changes
    back = first.taken.copy(), cluster.table.requested[CPU_ROW, 1]
    cluster.repeat(changes)
    again = first.taken.copy(), cluster.table.requested[CPU_ROW, 1]
    cluster.take_off(placed)

    assert found == [1, None, None]
    assert (back, again) == (([], 0), ([1], 1000))
    assert (first.taken, second.taken, cluster.table.requested[CPU_ROW, 1]) == ([], [1], 0)


def test_what_is_no_pod_of_the_cluster_is_noted_by_its_keeper_alone() -> None:
    cluster, keeper = make_cluster(), _Seats()
    cycle = Cycle(cluster.placement_class(make_pod("held", node="", cpu="1")), cluster, keeper=keeper)

    placed = cluster.place(cycle, 1, [_Seats()], lambda _: {"written": "yes"})

    assert (placed.is_pod, placed.patch, taken_from(placed.takings, keeper)) == (False, {}, 1)
    assert cluster.table.requested[CPU_ROW, 1] == 0
    cluster.take_off(placed)
    assert keeper.taken == []


def test_what_if_that_is_kept_stays_until_the_outer_one_ends() -> None:
    cluster = make_cluster()
    before = cluster.digest()

    with cluster.what_if():
        with cluster.what_if() as inner:
            cluster.remove(PODS[0])
            inner.keep()
        kept = cluster.digest()

    assert kept != before
    assert cluster.digest() == before


def test_what_if_that_fails_is_taken_back_although_it_was_kept() -> None:
    cluster = make_cluster()
    before = cluster.digest()

    with pytest.raises(KeyError):
        _fail_after_a_removal(cluster)

    assert cluster.digest() == before


def _fail_after_a_removal(cluster: ShadowCluster) -> None:
    with cluster.what_if() as trial:
        trial.keep()
        cluster.remove(PODS[0])
        raise KeyError


def test_follower_that_joins_late_knows_what_one_that_was_there_knows() -> None:
    early, late = make_cluster(), ShadowCluster(make_snapshot(NODES, PODS))
    for cluster in (early, late):
        cluster.remove(PODS[0])
        cluster.add(make_pod("new", node="", labels={"app": "web"}), 2)

    late_groups = late.follow(PodCounts)

    assert late_groups.fingerprint() == early.follow(PodCounts).fingerprint()


def test_resource_that_no_node_offers_gets_a_row_of_zeros() -> None:
    cluster = make_cluster()
    before = cluster.digest()

    row = cluster.table.row("example.com/dev")

    assert cluster.table.allocatable[row].tolist() == [0, 0, 0]
    assert cluster.digest() == before


@pytest.mark.long
@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["place", "add", "remove", "terminate"]), st.integers(0, 4)), max_size=60))
def test_what_if_leaves_every_column_and_counter_as_it_was(steps: list[tuple[str, int]]) -> None:
    cluster = make_cluster()
    scheduler = default_scheduler(cluster)
    before = cluster.digest()
    standing: list[Pod] = list(PODS[:3])

    trial = cluster.what_if()
    for step, number in steps:
        if step == "place":
            evaluation = scheduler.evaluate(make_pod("new", node="", cpu="200m", labels={"app": "web"}))
            choice = evaluation.choose()
            if choice is not None:
                scheduler.place(evaluation, choice.node)
        elif step == "add":
            cluster.add(make_pod("more", node="", labels={"app": "lonely"}), number % len(NODES))
        elif standing and step == "remove":
            cluster.remove(standing.pop(number % len(standing)))
        elif standing:
            cluster.terminate(standing[number % len(standing)])
    trial.take_back()

    assert cluster.digest() == before


PORT = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}
DISK = {"name": "disk", "gcePersistentDisk": {"pdName": "disk"}}
CLAIMLESS = [
    make_pod("plain", node="a"),
    make_pod("port", node="a", spec={"containers": [PORT]}),
    make_pod("lonely", node="a", affinity=required_anti_affinity({"app": "web"})),
    make_pod("disk", node="a", volumes=[DISK]),
]


@pytest.mark.parametrize("kind", [AttachedVolumes, ClaimOwners, ClaimUsers, DiskUsers, TermHolders, UsedPorts])
@pytest.mark.parametrize("pod", [pytest.param(pod, id=pod.name) for pod in CLAIMLESS])
def test_pod_without_claims_that_does_not_concern_a_follower_changes_nothing_in_it(
    kind: Callable[[ShadowCluster], ChoosyFollower], pod: Pod
) -> None:
    follower = kind(ShadowCluster(make_snapshot(NODES, [])))
    before = follower.fingerprint()

    follower.pod_added(pod, 0, is_terminating=False)

    assert follower.concerns(pod.spec) or follower.fingerprint() == before


class _Port80(UsedPorts):
    """Notes of whom it is told."""

    def __init__(self, cluster: ShadowCluster) -> None:
        super().__init__(cluster)
        self.told: list[str] = []

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        self.told.append(pod.name)


def test_choosy_follower_is_told_of_those_that_concern_it_and_of_all_with_claims() -> None:
    cluster = ShadowCluster(make_snapshot(NODES, []))
    follower = cluster.follow(_Port80)

    for pod in (*CLAIMLESS, make_pod("claim", node="a", claims=["data"])):
        cluster.add(pod, 0)

    assert follower.told == ["port", "claim"]
