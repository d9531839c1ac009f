"""What the view of the cluster lists, and what readers that cache are told."""

from __future__ import annotations

import pytest

from descheduler.eviction.cluster_view import NO_PODS, ClusterCounts, ClusterView, NodeChange, count_pods, pods_for
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.node import Node
from descheduler.model.selection.labels import EVERYTHING, LabelSelector, selector_from_object
from descheduler.model.shard import Shard
from descheduler.plan.moves import Move
from tests.builders import make_node, make_pod, make_snapshot, make_view

NODES: list[Node] = [make_node("a"), make_node("b")]
LABELLED = selector_from_object({"matchLabels": {"pool": "x"}})


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


def test_net_changes_are_those_that_were_not_taken_back() -> None:
    one, two = make_pod("one", node="a"), make_pod("two", node="a")
    arrival = make_pod("coming", node="b", uid="")
    view = make_view(NODES, [one, two], moves_take_effect=True)

    view.book_eviction(two)
    since = view.version
    undo = view.book_eviction(one, arrival)
    booked = list(view.net_changes(since))
    undo()

    assert booked == [NodeChange(arrival, 1, is_arrival=True), NodeChange(one, -1, is_arrival=False)]
    assert list(view.net_changes(since)) == []
    assert list(view.net_changes(0)) == [NodeChange(two, -1, is_arrival=False)]


def test_arrival_of_a_pending_pod_is_listed_where_moves_take_effect() -> None:
    pending = make_pod("pending", node="")
    bound = make_pod("pending", node="b")

    for takes_effect in (True, False):
        view = make_view(NODES, [pending], moves_take_effect=takes_effect)
        undo = view.book_arrival(pending, bound)

        assert view.pods_on("b") == ((bound,) if takes_effect else ())
        assert view.has_arrivals is takes_effect
        assert view.evicted_for(bound) is (pending if takes_effect else None)
        undo()
        assert (view.pods_on("b"), view.has_arrivals) == ((), False)


def test_finished_pods_are_listed_and_not_active() -> None:
    running, done, going = make_pod("a"), make_pod("b", phase="Succeeded"), make_pod("c", deleted=1)
    view = make_view(NODES, [running, done, going], moves_take_effect=True)

    assert view.active_pods_on("a") == (running, going)
    view.book_eviction(running)
    assert (view.active_pods_on("a"), view.pods_on("a")) == ((going,), (done, going))


@pytest.mark.parametrize(
    ("selector", "shard", "names"),
    [
        pytest.param(EVERYTHING, Shard(), ["a", "b"], id="all that are ready"),
        pytest.param(LABELLED, Shard(), ["b"], id="those with the label"),
        pytest.param(EVERYTHING, Shard(0, 2), None, id="one half of them"),
    ],
)
def test_ready_nodes_are_those_of_the_selector_and_the_shard(
    selector: LabelSelector, shard: Shard, names: list[str] | None
) -> None:
    nodes = [make_node("a"), make_node("b", labels={"pool": "x"}), make_node("c", labels={"pool": "x"}, ready=False)]
    view = make_view(nodes, shard=shard)
    wanted = [node.name for node in nodes[:2] if shard.owns(node)] if names is None else names

    assert [node.name for node in view.ready_nodes(selector)] == wanted
    assert len(view.ready_nodes_of_all_shards(selector)) == len(names or nodes[:2])


def test_pods_are_counted_that_have_not_finished() -> None:
    pods = [
        make_pod("a", node="a"),
        make_pod("b", node="b", namespace="shop"),
        make_pod("c", node="b", phase="Failed"),
        make_pod("d", node=""),
    ]
    snapshot = make_snapshot(NODES, pods)

    assert count_pods(snapshot) == ClusterCounts(3, {"a": 1, "b": 1}, {"default": 2, "shop": 1})
    assert pods_for([5, None], snapshot) is NO_PODS
    assert pods_for([5, "10%"], snapshot) == count_pods(snapshot)
