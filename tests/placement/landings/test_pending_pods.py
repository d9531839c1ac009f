"""Pods that wait for a node: who is tried when, which are left out, and what one that leaves opens to them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, pod_object, required_anti_affinity
from tests.placement.clusters import HOSTNAME
from tests.placement.workloads import cluster_of, pod_named


def waiting(name: str, *, cpu: str = "2", **facts: Any) -> Object:
    """A pending pod of its own ReplicaSet."""
    return pod_object(name, node="", cpu=cpu, phase="Pending", owners=[f"ReplicaSet/{name}"], **facts)


def prover(*objects: Object, cpu: str = "2") -> LandingProver:
    """Over the objects and one node of so many cores, unless there are others."""
    nodes = [each for each in objects if each["kind"] == "Node"]
    return LandingProver(cluster_of(*objects, *([] if nodes else [node_object("a", cpu=cpu)])))


def scheduled(found: LandingProver) -> dict[str, str]:
    """The nodes of pending pods by their names."""
    return {pod.name: bound.node_name for pod, bound in found.scheduled()}


@pytest.mark.parametrize(
    ("first", "second", "placed"),
    [
        pytest.param({"priority": 1}, {"priority": 2}, "second", id="higher priority first"),
        pytest.param({"age": 10.0}, {"age": 20.0}, "second", id="then the older one"),
        pytest.param({"priority": 1, "age": 10.0}, {"priority": 0, "age": 20.0}, "first", id="priority before age"),
        pytest.param({"age": None}, {"age": 20.0}, "second", id="one without a time is last"),
        pytest.param({}, {"priority": -1}, "first", id="no priority is 0"),
        pytest.param({}, {}, "first", id="of one time by name"),
    ],
)
def test_pods_are_tried_by_priority_and_then_by_age(first: Any, second: Any, placed: str) -> None:
    assert scheduled(prover(waiting("first", **first), waiting("second", **second))) == {placed: "a"}


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"spec": {"schedulingGates": [{"name": "wait"}]}}, id="gated"),
        pytest.param({"deleted": 5.0}, id="terminating"),
        pytest.param({"phase": "Failed"}, id="ended"),
    ],
)
def test_pod_that_is_not_to_be_scheduled_is_no_pending_one(facts: Any) -> None:
    pod = pod_object("pod", node="", cpu="1", owners=["ReplicaSet/x"], **{"phase": "Pending", **facts})

    found = prover(pod)

    assert (scheduled(found), found.still_pending(), dict(found.undecided)) == ({}, (), {})


def test_pods_that_fit_nowhere_wait_by_priority() -> None:
    pods = [waiting("low"), waiting("high", priority=5), waiting("fits", cpu="1"), waiting("older", age=9000.0)]

    found = prover(*pods, cpu="1")

    assert scheduled(found) == {"fits": "a"}
    assert [pod.name for pod in found.still_pending()] == ["high", "older", "low"]
    assert [(pod.name, node) for pod, node in found.pending_nodes()] == [("fits", "a")]


def test_pods_of_schedulers_that_are_not_modelled_are_left_out_with_the_reason() -> None:
    found = prover(waiting("theirs", scheduler="mine"), waiting("ours"), waiting("more", scheduler="mine"))
    cause = "scheduler mine is not modelled"

    assert dict(found.undecided) == {cause: 2}
    assert found.still_pending() == ()
    snapshot = found.cluster.snapshot
    assert [found.pending_doubt(pod_named(snapshot, name)) for name in ("theirs", "ours")] == [cause, ""]


@pytest.mark.parametrize(
    ("pods", "cpu", "placed"),
    [
        pytest.param([waiting("p")], "1500m", False, id="too little"),
        pytest.param([waiting("p")], "2", True, id="just enough"),
        pytest.param([waiting("p", node_selector={HOSTNAME: "b"})], "2", False, id="another node"),
        pytest.param([waiting("p", cpu="3")], "2", False, id="more than is freed"),
        pytest.param([waiting("p", memory="9Gi")], "2", False, id="more of something else"),
    ],
)
def test_pod_that_waits_gets_the_room_of_a_pod_that_leaves(pods: list[Object], cpu: str, placed: bool) -> None:
    """Before the replacement of that one, which has the same priority."""
    leaving = pod_object("leaving", node="a", cpu=cpu, owners=["ReplicaSet/leaving"])
    found = prover(leaving, *pods, node_object("a", cpu=cpu), node_object("b", cpu="1"))
    assert scheduled(found) == {}

    found.book(pod_named(found.cluster.snapshot, "leaving"))

    assert scheduled(found) == ({"p": "a"} if placed else {})


def test_last_seat_of_a_node_is_room_for_a_pod_that_waits() -> None:
    leaving = pod_object("leaving", node="a", owners=["ReplicaSet/leaving"])
    found = prover(leaving, waiting("p", cpu=""), node_object("a", pods="1"))
    assert scheduled(found) == {}

    found.book(pod_named(found.cluster.snapshot, "leaving"))

    assert scheduled(found) == {"p": "a"}


def test_pod_that_keeps_away_from_one_that_leaves_gets_its_node() -> None:
    """The room was free before; what counts is who is gone."""
    label = {"app": "x"}
    leaving = pod_object("leaving", node="a", labels=label, owners=["ReplicaSet/leaving"])
    found = prover(leaving, waiting("p", cpu="1", labels=label, affinity=required_anti_affinity(label)), cpu="4")
    assert scheduled(found) == {}

    found.book(pod_named(found.cluster.snapshot, "leaving"))

    assert scheduled(found) == {"p": "a"}


@pytest.mark.parametrize(("priority", "placed"), [(4, False), (5, True), (6, True)])
def test_pods_of_no_lower_priority_are_tried_before_the_replacement(priority: int, placed: bool) -> None:
    leaving = pod_object("leaving", node="a", cpu="2", priority=5, owners=["ReplicaSet/leaving"])
    found = prover(leaving, waiting("p", priority=priority))

    found.book(pod_named(found.cluster.snapshot, "leaving"))

    assert (scheduled(found) == {"p": "a"}) is placed


def nominated(name: str, node: str, **facts: Any) -> Object:
    pod = waiting(name, **facts)
    pod["status"]["nominatedNodeName"] = node
    return pod


def test_nominated_pod_has_its_node_whatever_is_there() -> None:
    full = pod_object("full", node="a", cpu="2", owners=["ReplicaSet/full"])

    assert scheduled(prover(full, nominated("p", "a"))) == {"p": "a"}


def test_pod_that_is_nominated_for_a_node_that_is_gone_waits_like_others() -> None:
    assert scheduled(prover(nominated("p", "gone", cpu="1"))) == {"p": "a"}
    assert scheduled(prover(nominated("p", "gone", cpu="3"))) == {}


def test_booking_that_is_taken_back_puts_pods_back_into_the_queue() -> None:
    leaving = pod_object("leaving", node="a", cpu="2", owners=["ReplicaSet/leaving"])
    found = prover(leaving, waiting("first", age=20.0), waiting("second", age=10.0))
    digest = found.cluster.digest()

    found.book(pod_named(found.cluster.snapshot, "leaving"))
    assert scheduled(found) == {"first": "a"}
    found.take_back()

    assert scheduled(found) == {}
    assert found.cluster.digest() == digest
    assert [pod.name for pod in found.still_pending()] == ["first", "second"]


def test_replacement_without_a_node_waits_behind_those_that_wait_already() -> None:
    stuck = pod_object("stuck", node="b", cpu="2", owners=["ReplicaSet/stuck"])
    leaving = pod_object("leaving", node="a", cpu="2", owners=["ReplicaSet/leaving"])
    nodes = [node_object("a", cpu="2"), node_object("b", cpu="2", unschedulable=True)]
    found = prover(stuck, leaving, waiting("p"), *nodes)
    snapshot = found.cluster.snapshot

    found.book(pod_named(snapshot, "stuck"))
    found.book(pod_named(snapshot, "leaving"))

    assert scheduled(found) == {"p": "a"}
    assert found.still_pending() == ()
