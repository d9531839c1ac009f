"""Topology spread of pods as rules of the planner."""

from __future__ import annotations

from typing import Any

from descheduler.model.pod import Pod
from descheduler.optimizer.rules import MaxSkew
from descheduler.planner.problem.spread_rules import spread_rules
from tests.builders import Object, make_node, make_pod
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


def only(rules: list[MaxSkew]) -> MaxSkew:
    (rule,) = rules
    return rule


def test_pods_of_one_constraint_are_a_group_that_is_compared_over_all_domains() -> None:
    pods = [web("p", "a"), web("q", "b"), web("r", "c"), make_pod("other", node="a")]

    rule = only(list(spread_rules(pods, NODES)))

    assert rule.group.tolist() == [0, 0, 0, -1]
    assert rule.domain.tolist() == [0, 0, 1]
    assert (rule.skew.tolist(), rule.there.tolist()) == ([1], [[True, True]])


def test_the_emptiest_of_too_few_domains_counts_as_empty() -> None:
    pods = [web("p", "a", minDomains=3), web("q", "c", minDomains=3)]

    assert only(list(spread_rules(pods, NODES))).there.tolist() == [[False, False]]


def test_a_domain_that_node_affinity_keeps_pods_from_is_not_the_emptiest() -> None:
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=[STATED], node_selector={"zone": "1"})]

    assert only(list(spread_rules(pods, NODES))).there.tolist() == [[True, False]]


def test_node_affinity_counts_nowhere_where_the_constraint_ignores_it() -> None:
    stated = {**STATED, "nodeAffinityPolicy": "Ignore"}
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=[stated], node_selector={"zone": "1"})]

    assert only(list(spread_rules(pods, NODES))).there.tolist() == [[True, True]]


def test_what_is_only_preferred_is_no_rule() -> None:
    assert list(spread_rules([web("p", "a", when="ScheduleAnyway")], NODES)) == []


def test_two_constraints_on_one_key_are_two_rules() -> None:
    constraints = [{**STATED, "maxSkew": skew} for skew in (1, 2)]
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=constraints)]

    assert [rule.skew.tolist() for rule in spread_rules(pods, NODES)] == [[1], [2]]


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

    assert only(list(spread_rules(pods, NODES))).group.tolist() == [0, 0, 0]
