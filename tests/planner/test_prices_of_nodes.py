"""Prices of nodes as ReduceCost counts and shows them: as they are stated, and 0 as 0."""

from __future__ import annotations

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

PRICED: Object = {"nodeCost": {"label": "cost"}}
NODES = [make_node("a", cpu="10", labels={"cost": "4"})]


def pod(name: str, cpu: str, node: str = "a") -> Pod:
    return make_pod(name, cpu=cpu, node=node, owners=[f"ReplicaSet/{name}"])


def cost(pods: list[Pod], nodes: list[Node]) -> Asked:
    return objective_over("reduceCost", nodes, pods, args=PRICED)


@pytest.mark.parametrize("price", ["0", "0.0116", "0.0004"])
def test_the_price_of_a_node_is_shown_as_it_is_stated(price: str) -> None:
    nodes = [NODES[0], make_node("b", cpu="10", labels={"cost": price})]
    asked = cost([pod("p", "5"), pod("q", "5", "b")], nodes)

    assert asked.objective.reason(asked.pod("q")) == f"other nodes have cheaper room (node b costs {price})"


def test_what_is_requested_of_a_free_node_costs_nothing() -> None:
    nodes = [NODES[0], *(make_node(name, cpu="10", labels={"cost": "0"}) for name in "bcd")]

    assert cost([pod("p", "5"), *(pod(f"q-{name}", "10", name) for name in "bcd")], nodes).objective.figure() == 1000
