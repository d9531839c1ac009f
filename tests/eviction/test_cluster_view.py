"""What the view of the cluster lists, and what readers that cache are told."""

from __future__ import annotations

from descheduler.eviction.cluster_view import ClusterView, NodeChange
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.node import Node
from descheduler.plan.moves import Move
from tests.builders import make_node, make_pod, make_snapshot, make_view

NODES: list[Node] = [make_node("a"), make_node("b")]


def test_move_takes_effect_at_both_ends_and_is_taken_back_there() -> None:
    leaving, staying = make_pod("leaving", node="a"), make_pod("staying", node="b")
    arrival = make_pod("coming", node="b", uid="")
    view = make_view(NODES, [leaving, staying], moves_take_effect=True)

    undo = view.book_eviction(leaving, arrival)
    moved = view.pods_on("a"), view.pods_on("b"), view.pods_of_owner("replicaset-web"), view.is_arrival(arrival)
    undo()

    assert moved == ((), (arrival, staying), 1, True)
    assert (view.pods_on("a"), view.pods_on("b"), view.is_arrival(arrival)) == ((leaving,), (staying,), False)
    assert view.pods_of_owner("replicaset-web") == 2


def test_readers_are_told_of_what_is_taken_back() -> None:
    pod = make_pod("leaving", node="a")
    view = make_view(NODES, [pod], moves_take_effect=True)

    view.book_eviction(pod)()

    assert view.changes == [NodeChange(pod, -1, is_arrival=False), NodeChange(pod, 1, is_arrival=False)]


def test_listing_of_upstream_does_not_change() -> None:
    pod = make_pod("leaving", node="a")
    view = make_view(NODES, [pod], moves_take_effect=False)

    view.book_eviction(pod)

    assert (view.pods_on("a"), view.changes) == ((pod,), [])


def test_pods_on_the_move_come_back_with_the_grant() -> None:
    one, two = make_pod("one"), make_pod("two")
    view = make_view(NODES, [one, two], moves_take_effect=True)
    migrating = MigratingPods(view)

    undo = view.book_eviction(one)
    during = migrating.has(one), migrating.others_on_node(two)
    undo()

    assert during == (True, 1)
    assert (migrating.has(one), migrating.others_on_node(two)) == (False, 0)


def test_prior_move_stays_on_the_move_when_booking_it_again_is_taken_back() -> None:
    pod = make_pod("gone")
    view = ClusterView(make_snapshot(NODES, [pod]), moves_take_effect=True, prior_moves=[Move(pod, "p", "q")])
    migrating = MigratingPods(view)

    view.book_eviction(pod)()

    assert migrating.has(pod)
    assert view.pods_of_owner("replicaset-web") == 0
