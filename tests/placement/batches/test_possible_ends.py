"""Where a replacement may be in the end, beside others whose node is any of several."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.batches.proofs import cordoned
from tests.placement.clusters import HOSTNAME
from tests.placement.workloads import pod_named


def leaving(name: str, *, cpu: str = "3", **facts: Any) -> Pod:
    """A pod of its own ReplicaSet on the cordoned node."""
    return make_pod(name, node="c", cpu=cpu, owners=[f"ReplicaSet/{name}"], **facts)


def ends(*pods: Pod, nodes: tuple[Node, ...] | None = None) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Those of the last of `pods` that leave, the others having left before, with the nodes of these."""
    open_nodes = nodes or (make_node("x"), make_node("y"))
    snapshot = make_snapshot([*open_nodes, cordoned(cpu="64")], pods)
    prover = LandingProver(snapshot)
    *before, last = [pod_named(snapshot, pod.name) for pod in pods if pod.node_name]
    for pod in before:
        prover.book(pod)
    return [(end[0], {pod.name: node for pod, node in end[1]}) for end in prover.ends(last)]


def test_alone_it_is_on_one_of_the_nodes_that_are_as_good() -> None:
    assert ends(leaving("only")) == [(("x", "x", "y"), {})]


def test_it_is_on_either_node_where_another_one_has_the_choice_of_both() -> None:
    """Each takes one of them."""
    found = ends(leaving("first"), leaving("last"))

    assert found[0] == (("y", "y"), {})
    assert sorted((nodes, tuple(beside.items())) for nodes, beside in found[1:]) == [
        (("x",), (("first", "y"),)),
        (("y",), (("first", "x"),)),
    ]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(leaving("first", node_selector={HOSTNAME: "x"}), id="one that goes to another node anyway"),
        pytest.param(leaving("first", cpu="9"), id="one that finds no node"),
    ],
)
def test_nothing_else_may_come_of_it_beside(first: Pod) -> None:
    found = ends(first, leaving("last", node_selector={HOSTNAME: "y"}))

    assert {node for nodes, _ in found for node in nodes} == {"y"}


def test_pending_pods_have_their_nodes_first() -> None:
    """It may get either, and the replacement the other one."""
    pending = make_pod("waits", node="", phase="Pending", cpu="3", owners=["ReplicaSet/waits"])
    found = ends(pending, leaving("last"))

    assert found[0][1] == {"waits": "x"}
    assert {(nodes, tuple(beside.items())) for nodes, beside in found[1:]} == {
        (("x",), (("waits", "y"),)),
        (("y",), (("waits", "x"),)),
    }


def test_no_end_is_told_of_one_that_lands_nowhere() -> None:
    assert ends(leaving("last", cpu="9")) == []


def test_pod_with_volumes_is_where_it_is_predicted() -> None:
    """Others that get what is handed out one by one are not looked at."""
    assert len(ends(leaving("first"), leaving("last", requests={"example.com/gpu": "0"}))) == 1


def test_pod_of_a_scheduler_that_is_not_modelled_is_where_it_is_predicted() -> None:
    assert len(ends(leaving("first"), leaving("last", scheduler="mine"))) == 1


def test_beside_many_others_some_chances_are_played_through() -> None:
    """Too many for every order: it is found on several of the nodes that any of them may get."""
    nodes = tuple(make_node(f"n{number}") for number in range(7))

    found = ends(*(leaving(f"p{number}") for number in range(6)), leaving("last"), nodes=nodes)

    assert len({nodes for nodes, _ in found[1:]}) > 1
    assert all(len({*others.values(), *nodes}) == 7 for nodes, others in found[1:])
