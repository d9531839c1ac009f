"""Explanations of moves whose nodes the plan has chosen: they say what the plan says."""

from __future__ import annotations

from functools import cache

import pytest

from descheduler import evaluate
from descheduler.explanation.subjects.group import GroupExplanation
from tests.builders import NOW, Object, node_object, pod_object
from tests.explanation.questions import explained, node_explanation, pending_pod, pod_explanation, policy_of
from tests.placement.workloads import workload_object
from tests.planner.choosing import choosing_policy

POLICY = choosing_policy({"consolidateNodes": {}})


def _pod(name: str, cpu: str, node: str) -> list[Object]:
    """A pod and its ReplicaSet."""
    template = pod_object("t", cpu=cpu)
    return [
        pod_object(name, cpu=cpu, node=node, owners=[f"ReplicaSet/{name}"]),
        workload_object(f"ReplicaSet/{name}", template=template),
    ]


OBJECTS: list[Object] = [
    *(node_object(name, cpu="10") for name in "abc"),
    *_pod("p", "3", "a"),
    *_pod("q", "2", "a"),
    pod_object("r", cpu="5", node="b", owners=[]),
    pod_object("s", cpu="4", node="c", owners=[]),
]
"""Node a is emptied; the scheduler would place its pods there again."""


@cache
def _planned() -> dict[str, str]:
    """The target of each pod in the plan, on which room is held."""
    moves = evaluate(POLICY, OBJECTS, now=NOW).decisions.moves
    return {move.pod.name: move.held_on for move in moves}


def test_each_pod_goes_where_the_plan_says() -> None:
    said = {}
    for name in "pq":
        landing = pod_explanation(name, OBJECTS, policy_of(POLICY)).landing
        assert landing is not None
        said[name] = (landing.verdict, landing.node)

    assert said == {name: ("lands", node) for name, node in _planned().items()}


def test_explanation_says_that_the_scheduler_did_not_choose_the_node() -> None:
    landings = [pod_explanation("p", OBJECTS, policy).landing for policy in (policy_of(POLICY), None)]

    assert [landing.notes[-1:] for landing in landings if landing is not None] == [
        ("the plan chose the node (chooseNodes: true), and a Reservation holds room for the replacement pod there",),
        (),
    ]


def test_the_emptied_node_names_the_targets_of_its_pods() -> None:
    departures = node_explanation("a", OBJECTS, policy_of(POLICY)).departures

    assert {each.pod.name: each.to_node for each in departures} == _planned()


@pytest.mark.parametrize("node", ["b", "c"])
def test_a_node_names_the_pods_that_come(node: str) -> None:
    arrivals = node_explanation(node, OBJECTS, policy_of(POLICY)).arrivals

    assert [each.pod.name for each in arrivals] == [name for name, target in _planned().items() if target == node]


def test_a_workload_names_the_target_of_its_pod() -> None:
    group = explained(GroupExplanation, "replicaset", "default/p", OBJECTS, policy_of(POLICY))

    assert [each.to_node for each in group.pods] == [_planned()["p"]]


def test_a_pending_pod_is_told_where_evictions_make_room_for_it() -> None:
    objects: list[Object] = [
        *(node_object(name, cpu=cpu) for name, cpu in (("a", "6"), ("b", "3"))),
        *_pod("p", "2", "a"),
        pod_object("fixed", cpu="1", node="a", owners=[]),
        *(pod_object(name, cpu=cpu, node="", phase="Pending") for name, cpu in (("large", "4"), ("larger", "5500m"))),
    ]
    policy = policy_of(choosing_policy({"makeRoom": {}}))
    decisions = [pod_explanation(name, objects, policy).decision for name in ("large", "larger")]

    assert [decision.not_selected[0].message for decision in decisions if decision is not None] == [
        "evictions of other pods make room for the pod on a",
        "makes no room for the pod (2 pods pending → 1; no plan does better; 4500m CPU short on node a, where pod"
        " default/fixed cannot be evicted: the pod has no owner that recreates it; other nodes: 1 too small)",
    ]


def test_a_node_on_which_room_is_held_for_a_pod_that_leaves_later_is_available_to_it() -> None:
    """Pod q leaves b first, and room is held there for p until p leaves a."""
    objects: list[Object] = [
        *(node_object(name, cpu="10") for name in "abc"),
        *_pod("p", "4", "a"),
        *_pod("q", "3", "b"),
        *(pod_object(name, cpu=cpu, node=node, owners=[]) for name, cpu, node in (("r", "4", "a"), ("s", "5", "b"))),
        pod_object("t", cpu="7", node="c", owners=[]),
        pending_pod("large", cpu="6"),
    ]

    explanation = pod_explanation("p", objects, policy_of(choosing_policy({"makeRoom": {}})))

    assert explanation.landing is not None
    assert explanation.placement is not None
    assert explanation.landing.node == "b"
    assert "b" in [each.node for each in explanation.placement.ranking]
