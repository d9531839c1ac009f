"""Which pods are to leave where several domains hold too many, and what is said of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import Listing, surplus_sentence
from tests.builders import make_node, make_pod
from tests.strategies.asked import Asked
from tests.strategies.remove_pods_violating_topology_spread_constraint.test_domains import constraint_of, spread, web

PLUGIN = "RemovePodsViolatingTopologySpreadConstraint"


def moves(*numbers: int, **facts: Any) -> list[tuple[str, str]]:
    """Node and name of the pods that leave, where so many are in each zone."""
    nodes = [make_node(f"n{zone}", labels={"zone": f"z{zone}"}) for zone in range(len(numbers))]
    pods = [
        web(f"p{each}", f"n{zone}", uid=f"{zone}-{each}", **facts)
        for zone, number in enumerate(numbers)
        for each in range(number)
    ]
    return [(move.pod.node_name, move.pod.name) for move in Asked(PLUGIN, nodes, pods).decisions.moves]


@pytest.mark.parametrize(
    ("numbers", "leaving"),
    [
        pytest.param((8, 7, 0), {"n0": 3, "n1": 2}, id="two zones feed one"),
        pytest.param((6, 0, 6, 0), {"n0": 3, "n2": 3}, id="two zones feed two"),
        pytest.param((9, 0, 0), {"n0": 6}, id="one zone feeds two"),
        pytest.param((5, 6, 7, 0), {"n1": 1, "n2": 3}, id="the fullest zones feed the emptiest"),
        pytest.param((2, 1, 1), {}, id="nothing is violated"),
    ],
)
def test_each_domain_gives_its_own_last_pods(numbers: tuple[int, ...], leaving: dict[str, int]) -> None:
    found = moves(*numbers)

    assert Counter(node for node, _ in found) == leaving
    assert set(found) == {
        (node, f"p{numbers[int(node[1])] - 1 - each}") for node, number in leaving.items() for each in range(number)
    }


def listing(*pods: Pod) -> Listing:
    return Listing(pods, highest_first=False, is_arrival=lambda _: False, is_gone=lambda _: False)


def test_owners_of_pods_are_named_and_further_ones_counted() -> None:
    pods = [web("a"), web("b", owners=()), web("c", owners=["ReplicaSet/api"]), web("d")]
    found = listing(*pods)
    places = found.index.places(constraint_of(web("x")).selector)

    assert found.owners(places[:1]) == "ReplicaSet web"
    assert found.owners(places[1:2]) == "no owner"
    assert found.owners(places[:2]) == "ReplicaSet web and 1 other owner"
    assert found.owners(places) == "ReplicaSet web and 2 other owners"


@pytest.mark.parametrize(
    ("members", "owners", "sentence"),
    [
        pytest.param(
            {},
            "ReplicaSet web",
            "z0 has 1 more pod of ReplicaSet web than the emptiest zone"
            " (topologyKey: zone, maxSkew: 1, labelSelector: app in (web))",
            id="labels and owners",
        ),
        pytest.param(
            {"labelSelector": {}, "topologyKey": "topology.kubernetes.io/zone"},
            "",
            "z0 has 1 more pod than the emptiest zone"
            " (topologyKey: topology.kubernetes.io/zone, maxSkew: 1, labelSelector: all pods)",
            id="all pods",
        ),
    ],
)
def test_sentence_names_the_domain_and_the_constraint(members: dict[str, Any], owners: str, sentence: str) -> None:
    constraint = constraint_of(web("x", spread=[spread(**members)]))

    assert surplus_sentence(constraint, "z0", 1, owners) == sentence


def test_pods_that_arrive_or_have_gone_are_not_asked_to_leave() -> None:
    pods = [web("a"), web("new"), web("gone"), make_pod("d")]

    found = Listing(
        pods,
        highest_first=False,
        is_arrival=lambda pod: pod.name == "new",
        is_gone=lambda pod: pod.name == "gone",
    )

    assert found.may_leave.tolist() == [True, False, False, True]
    assert found.standing.tolist() == [2, 0, 3, 2]
