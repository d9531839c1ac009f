"""Room for pending pods and for pods that leave later, which is held from before others leave a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.held_room import HeldRoom, HeldRooms
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_table import CPU_ROW
from tests.builders import Object, node_object, pod_object
from tests.placement.considered import LANDS, NO
from tests.placement.workloads import cluster_of, pod_named


def pod(name: str, cpu: str, on: str, **facts: Any) -> Object:
    return pod_object(name, node=on, cpu=cpu, owners=[f"ReplicaSet/{name}"], **facts)


def pending(name: str, cpu: str, **facts: Any) -> Object:
    return pod(name, cpu, "", **facts)


NODES = [node_object("a", cpu="4"), node_object("b", cpu="4")]
"""On a, `victim` and a pod of 1 core are in the way of pods of 3 cores; b has 2 cores free."""
PODS = [pod("victim", "2", "a"), pod("large", "1", "a"), pod("busy", "2", "b")]


class Play:
    """A book over the cluster of `objects`."""

    def __init__(self, *objects: Object) -> None:
        self.snapshot = cluster_of(*objects)
        self.prover = LandingProver(self.snapshot)

    def pod(self, name: str) -> Pod:
        return pod_named(self.snapshot, name)

    def book(self, victim: str, on: str, rooms: Sequence[tuple[str, str]] = ()) -> Landing:
        held = [HeldRoom(self.pod(name), node) for name, node in rooms]
        return self.prover.book(self.pod(victim), held=HeldRooms(on, tuple(held)))

    def requested(self, node: str) -> int:
        """Milli cores."""
        table = self.prover.cluster.table
        return int(table.requested[CPU_ROW, table.index[node]])

    @property
    def scheduled(self) -> dict[str, str]:
        """The nodes of pending pods by now."""
        return {there.name: there.node_name for _, there in self.prover.scheduled()}


def test_a_pending_pod_gets_the_room_that_is_held_for_it_although_another_is_before_it() -> None:
    waiting = [pending("at-the-front", "3"), pending("chosen", "3")]
    free, held = Play(*NODES, *PODS, *waiting), Play(*NODES, *PODS, *waiting)

    free.book("victim", "b")
    held.book("victim", "b", [("chosen", "a")])

    assert free.scheduled == {"at-the-front": "a"}
    assert held.scheduled == {"chosen": "a"}


def test_a_pending_pod_of_a_higher_priority_goes_before_one_for_which_room_is_held() -> None:
    play = Play(*NODES, *PODS, pending("urgent", "3", priority=20), pending("chosen", "3"))

    landing = play.book("victim", "b", [("chosen", "a")])

    assert landing.verdict is NO
    assert landing.message == "pending pod default/chosen would not fit on a after the eviction: insufficient cpu"


def test_a_refused_move_changes_nothing() -> None:
    play = Play(*NODES, *PODS, pending("urgent", "3", priority=20), pending("chosen", "3"))
    before = play.prover.cluster.digest()

    play.book("victim", "b", [("chosen", "a")])

    assert play.prover.cluster.digest() == before


def test_what_is_booked_with_rooms_can_be_taken_back() -> None:
    play = Play(*NODES, *PODS, pending("at-the-front", "3"), pending("chosen", "3"))
    before = play.prover.cluster.digest()

    play.book("victim", "b", [("chosen", "a"), ("busy", "a")])
    play.prover.take_back()

    assert play.prover.cluster.digest() == before


@pytest.mark.parametrize("is_early", [False, True])
def test_room_that_is_held_early_is_not_taken_by_a_pending_pod(is_early: bool) -> None:
    """Pod `busy` is to follow onto a, where a pending pod fits as soon as the victim has left."""
    play = Play(*NODES, *PODS, pending("waiting", "3"), node_object("c", cpu="2"))

    play.book("victim", "c", [("busy", "a")] if is_early else [])

    assert play.scheduled == ({} if is_early else {"waiting": "a"})
    assert play.book("busy", "a").verdict is (LANDS if is_early else NO)


def test_the_victim_gives_its_early_room_back_when_it_leaves() -> None:
    """Pod `busy` takes 2 of the 3 cores that are left on a, and not twice as many."""
    play = Play(*NODES, *PODS, node_object("c", cpu="2"), pod("other", "1", "b"))

    play.book("victim", "c", [("busy", "a")])

    assert [play.book(name, "a").verdict for name in ("busy", "other")] == [LANDS, LANDS]


@pytest.mark.parametrize(
    "rooms",
    [
        pytest.param([("busy", "a"), ("busy", "a")], id="twice on one node"),
        pytest.param([("busy", "a"), ("busy", "b")], id="on two nodes"),
        pytest.param([("victim", "a")], id="for the victim itself"),
    ],
)
def test_room_that_is_named_again_is_held_once_and_taken_back(rooms: list[tuple[str, str]]) -> None:
    play = Play(node_object("a", cpu="8"), NODES[1], *PODS, node_object("c", cpu="4"))
    found = []

    for _ in range(2):
        play.book("victim", "c", rooms)
        verdict, taken = play.book("busy", "a").verdict, play.requested("a")
        play.prover.take_back()
        play.prover.take_back()
        found.append((verdict, taken, play.prover.cluster.digest()))

    assert found[0] == found[1]
    assert found[0][:2] == (LANDS, 3000)


def test_no_room_is_held_for_a_pod_that_has_left() -> None:
    play = Play(node_object("a", cpu="8"), NODES[1], *PODS, node_object("c", cpu="4"))
    play.book("busy", "c")

    play.book("victim", "c", [("busy", "a")])

    assert play.requested("a") == 1000


def test_a_pod_whose_node_is_not_chosen_after_all_gives_its_early_room_back() -> None:
    play = Play(node_object("a", cpu="8"), NODES[1], *PODS, node_object("c", cpu="4"))
    play.book("victim", "c", [("busy", "a")])

    landing = play.prover.book(play.pod("busy"))

    assert (landing.node, play.requested("a")) == ("a", 3000)


def test_a_pod_that_is_scheduled_by_now_needs_no_room() -> None:
    play = Play(*NODES, *PODS, node_object("c", cpu="3"), pending("small", "1"))
    before = play.scheduled

    landing = play.book("victim", "c", [("small", "a")])

    assert landing.verdict is LANDS
    assert play.scheduled == before != {}


def test_pods_with_rooms_are_placed_before_all_others() -> None:
    snapshot = cluster_of(node_object("a", cpu="4"), pending("at-the-front", "3"), pending("chosen", "3"))
    rooms = [HeldRoom(pod_named(snapshot, "chosen"), "a")]

    prover = LandingProver(snapshot, rooms=rooms)

    assert [(there.name, there.node_name) for _, there in prover.scheduled()] == [("chosen", "a")]


@pytest.mark.parametrize(
    "node",
    [
        pytest.param("gone", id="that does not exist"),
        pytest.param("small", id="that is too small"),
        pytest.param("closed", id="that is closed"),
    ],
)
def test_no_room_is_held_early_on_a_node(node: str) -> None:
    """Whether it lands there is asked when it leaves."""
    others = [node_object("c", cpu="2"), node_object("small", cpu="1"), node_object("closed", unschedulable=True)]
    play = Play(*NODES, *PODS, *others)

    landing = play.book("victim", "c", [("busy", node)])

    assert landing.verdict is LANDS
    assert [play.requested(each) for each in ("a", "b", "c", "small", "closed")] == [1000, 2000, 2000, 0, 0]


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        pytest.param("gone", "node is not in the snapshot", id="a node that does not exist"),
        pytest.param("small", "insufficient cpu", id="a node that is too small"),
        pytest.param("closed", "unschedulable", id="a node that is closed"),
    ],
)
def test_pending_pod_that_does_not_fit_where_room_is_held_refuses_the_eviction(node: str, cause: str) -> None:
    others = [node_object("c", cpu="2"), node_object("small", cpu="1"), node_object("closed", unschedulable=True)]
    play = Play(*NODES, *PODS, *others, pending("waiting", "3"))

    landing = play.book("victim", "c", [("waiting", node)])

    assert landing.verdict is NO
    assert landing.message == f"pending pod default/waiting would not fit on {node} after the eviction: {cause}"
    assert play.scheduled == {}


def test_pending_pod_of_which_nothing_is_known_needs_no_room() -> None:
    """Of its scheduler nothing is modelled, so nothing is in its way."""
    play = Play(*NODES, *PODS, node_object("c", cpu="2"), pending("theirs", "3", scheduler="mine"))

    assert play.book("victim", "c", [("theirs", "a")]).verdict is LANDS
