"""Topology spread of pods as rules of the planner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.rules import MaxSkew
from descheduler.placement.prover import LandingProver
from descheduler.planner.problem.spread_rules import spread_rules
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node(name, cpu="10", labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "1"), ("c", "2"))]


STATED: Object = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def web(name: str, node: str, *, when: str = "DoNotSchedule", cpu: str = "1", **constraint: Any) -> Pod:
    spread = [{**STATED, "whenUnsatisfiable": when, **constraint}]
    return make_pod(name, node=node, cpu=cpu, labels={"app": "web"}, spread=spread)


def rules_of(pods: Sequence[Pod], *, nodes: Sequence[Node] = NODES, others: Sequence[Pod] = ()) -> list[MaxSkew]:
    """The rules of `pods` on NODES, in a cluster of `nodes` that has `others`, too."""
    openings = LandingProver(make_snapshot(nodes, [*pods, *others])).openings()
    number = {node.name: place for place, node in enumerate(NODES)}
    assignment = np.array([number.get(pod.node_name, PENDING) for pod in pods])
    columns = np.array([openings.place_of(node.name) for node in NODES])
    return list(spread_rules(pods, assignment, openings, columns, {}))


def only(rules: list[MaxSkew]) -> MaxSkew:
    (rule,) = rules
    return rule


def test_pods_of_one_constraint_are_a_group_that_is_compared_over_all_domains() -> None:
    pods = [web("p", "a"), web("q", "b"), web("r", "c"), make_pod("other", node="a")]

    rule = only(rules_of(pods))

    assert rule.group.tolist() == [0, 0, 0, -1]
    assert rule.domain.tolist() == [0, 0, 1]
    assert (rule.skew.tolist(), rule.there.tolist()) == ([1], [[True, True]])


def test_the_emptiest_of_too_few_domains_counts_as_empty() -> None:
    pods = [web("p", "a", minDomains=3), web("q", "c", minDomains=3)]

    assert only(rules_of(pods)).there.tolist() == [[False, False]]


def test_a_domain_that_node_affinity_keeps_pods_from_is_not_the_emptiest() -> None:
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=[STATED], node_selector={"zone": "1"})]

    assert only(rules_of(pods)).there.tolist() == [[True, False]]


def test_node_affinity_counts_nowhere_where_the_constraint_ignores_it() -> None:
    stated = {**STATED, "nodeAffinityPolicy": "Ignore"}
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=[stated], node_selector={"zone": "1"})]

    assert only(rules_of(pods)).there.tolist() == [[True, True]]


def test_what_is_only_preferred_is_no_rule() -> None:
    assert rules_of([web("p", "a", when="ScheduleAnyway")]) == []


def test_two_constraints_on_one_key_are_two_rules() -> None:
    constraints = [{**STATED, "maxSkew": skew} for skew in (1, 2)]
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=constraints)]

    assert [rule.skew.tolist() for rule in rules_of(pods)] == [[1], [2]]


def test_a_plan_keeps_the_spread() -> None:
    """Node a is over its target; what is spread cannot go to zone 2, where the other pod of its kind is."""
    pods = [
        web("spread", "a", cpu="4", maxSkew=1),
        make_pod("free", node="a", cpu="4"),
        web("w", "c"),
        make_pod("full", node="b", cpu="7", owners=["DaemonSet/d"]),
    ]
    args: Object = {
        "objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}],
        "timeLimit": "60s",
        "workLimit": 1,
    }

    assert evicted(run_plugin("MigrationPlanner", NODES, pods, args=args)) == ["free"]


def test_a_pending_pod_is_of_the_group_of_the_others() -> None:
    pods = [web("p", "a"), web("q", "c"), web("pending", "")]

    assert only(rules_of(pods)).group.tolist() == [0, 0, 0]


def test_pods_that_a_constraint_counts_and_that_do_not_state_it_are_free_members() -> None:
    pods = [web("p", "a"), make_pod("q", node="c", labels={"app": "web"}), make_pod("other", node="c")]

    rule = only(rules_of(pods))

    assert rule.group.tolist() == [0, 0, -1]
    assert rule.free is not None
    assert rule.free.tolist() == [False, True, False]


def test_pods_that_two_constraints_count_are_in_two_rules() -> None:
    both: Object = {"matchLabels": {"tier": "front"}}
    wide = make_pod("r", node="b", labels={"app": "web", "tier": "front"}, spread=[{**STATED, "labelSelector": both}])

    rules = rules_of([web("p", "a"), wide])

    assert [rule.group.tolist() for rule in rules] == [[0, 0], [-1, 0]]


def test_pods_of_nodes_that_are_none_of_the_plan_s_count_where_they_are() -> None:
    nodes = [*NODES, make_node("d", labels={"zone": "2"}), make_node("e", labels={"zone": "3"})]
    others = [make_pod(f"o{number}", node="d", labels={"app": "web"}) for number in range(2)]

    rule = only(rules_of([web("p", "a"), web("q", "c")], nodes=nodes, others=others))

    assert rule.there.tolist() == [[True, True, True]]
    assert rule.others is not None
    assert rule.others.tolist() == [[0, 2, 0]]


def test_nodes_with_taints_count_nowhere_where_the_constraint_honors_taints() -> None:
    stated = {**STATED, "nodeTaintsPolicy": "Honor"}
    nodes = [*NODES, make_node("d", labels={"zone": "3"}, taints=["dedicated=x:NoSchedule"])]
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=[stated])]

    assert only(rules_of(pods, nodes=nodes)).there.tolist() == [[True, True, False]]
    assert only(rules_of([web("p", "a")], nodes=nodes)).there.tolist() == [[True, True, True]]


def test_a_pod_that_is_being_deleted_does_not_count() -> None:
    deleted = make_pod("q", node="c", labels={"app": "web"}, deleted=-60)

    assert only(rules_of([web("p", "a"), deleted])).group.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("expression", "group"),
    [
        pytest.param({"operator": "In", "values": ["web", "db"]}, [0, 0, -1], id="one of two values"),
        pytest.param({"operator": "NotIn", "values": ["db"]}, [0, -1, 0], id="another value or none"),
        pytest.param({"operator": "Exists"}, [0, 0, -1], id="any value"),
    ],
)
def test_pods_are_selected_by_all_operators(expression: Object, group: list[int]) -> None:
    """The pods have the values web, db and none."""
    stated = {**STATED, "labelSelector": {"matchExpressions": [{"key": "app", **expression}]}}
    pods = [
        make_pod("p", node="a", labels={"app": "web"}, spread=[stated]),
        make_pod("q", node="c", labels={"app": "db"}),
        make_pod("r", node="c"),
        make_pod("other", namespace="shop", node="c", labels={"app": "web"}),
    ]

    assert only(rules_of(pods)).group.tolist() == [*group, -1]
