"""Topology spread of pods as rules of the planner."""

from __future__ import annotations

from typing import Any

from descheduler.model.pod import Pod
from descheduler.optimizer.rules import AtMost
from descheduler.planner.problem.spread_rules import spread_rules, uneven_moves
from tests.builders import Object, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node(name, cpu="10", labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "1"), ("c", "2"))]


def web(name: str, node: str, *, when: str = "DoNotSchedule", cpu: str = "1", **constraint: Any) -> Pod:
    stated: Object = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    spread = [{**stated, **constraint}]
    return make_pod(name, node=node, cpu=cpu, labels={"app": "web"}, spread=spread)


def only(rules: list[AtMost]) -> AtMost:
    (rule,) = rules
    return rule


def test_a_domain_takes_as_many_as_the_emptiest_has_and_the_skew() -> None:
    pods = [web("p", "a"), web("q", "b"), web("r", "c"), make_pod("other", node="a")]

    rule = only(list(spread_rules(pods, NODES)))

    assert rule.group.tolist() == [0, 0, 0, -1]
    assert rule.domain.tolist() == [0, 0, 1]
    assert rule.limit.tolist() == [2]


def test_the_emptiest_of_too_few_domains_counts_as_empty() -> None:
    pods = [web("p", "a", minDomains=3), web("q", "c", minDomains=3)]

    assert only(list(spread_rules(pods, NODES))).limit.tolist() == [1]


def test_what_is_only_preferred_is_no_rule() -> None:
    assert list(spread_rules([web("p", "a", when="ScheduleAnyway")], NODES)) == []


def test_two_constraints_on_one_key_are_two_rules() -> None:
    constraints = [
        {
            "maxSkew": skew,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        for skew in (1, 2)
    ]
    pods = [make_pod("p", node="a", labels={"app": "web"}, spread=constraints)]

    assert [rule.limit.tolist() for rule in spread_rules(pods, NODES)] == [[1], [2]]


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


def test_a_pending_pod_is_in_no_domain_yet() -> None:
    pods = [web("p", "a"), web("q", "c"), web("pending", "")]

    assert only(list(spread_rules(pods, NODES))).limit.tolist() == [2]


def test_a_pod_of_the_emptiest_domain_is_not_moved_where_it_leaves_the_others_uneven() -> None:
    """Counts are 2 and 2: whichever pod changes its zone, there are 3 beside 1 (maxSkew: 1)."""
    pods = [web("p", "a"), web("q", "b"), web("r", "c"), web("s", "c")]

    found = [(list(numbers), closed.tolist()) for numbers, closed in uneven_moves(pods, NODES)]

    assert found == [([0, 1], [False, False, True]), ([2, 3], [True, True, False])]


def test_a_pod_of_the_emptiest_domain_may_go_where_the_skew_allows_it() -> None:
    pods = [web(name, node, maxSkew=2) for name, node in (("p", "a"), ("q", "b"), ("r", "c"), ("s", "c"))]

    assert not any(closed.any() for _, closed in uneven_moves(pods, NODES))


def test_no_move_is_uneven_while_an_empty_domain_is_missing() -> None:
    pods = [web(name, node, minDomains=3) for name, node in (("p", "a"), ("r", "c"))]

    assert list(uneven_moves(pods, NODES)) == []
