"""Balancing where the scheduler finds no good node for some of the pods that it would be best to evict."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

_TARGET = {"targetThresholds": {"cpu": 70}}


def pods_on(node: str, **cpu: str) -> list[Pod]:
    return [make_pod(name, cpu=amount, node=node) for name, amount in cpu.items()]


def agent(node: str, cpu: str) -> Pod:
    return make_pod(f"agent-{node}", cpu=cpu, node=node, owners=["DaemonSet/agent"])


@pytest.mark.long
def test_smaller_pods_leave_instead_of_one_that_has_no_good_node() -> None:
    nodes = [make_node(name, cpu="10") for name in "abc"]
    pods = [agent("a", "4"), agent("b", "5"), agent("c", "5"), *pods_on("a", big="3", small="1500m", other="1500m")]

    decisions = run_objective("balanceUtilization", nodes, pods, args=_TARGET, packs=False)

    assert sorted(evicted(decisions)) == ["other", "small"]
    assert goal_of(decisions).sentence == "1 node over target → 0 with 2 evictions (at least 2 are needed)"


def test_the_largest_pod_is_placed_first() -> None:
    """Only c has room for it. The scheduler would fill that with the small one, which fits on d as well."""
    nodes = [make_node(name, cpu="10") for name in "abcd"]
    pods = [agent("a", "6"), agent("b", "6"), agent("c", "3"), agent("d", "4")]
    pods += [*pods_on("a", small="2"), *pods_on("b", large="4")]

    decisions = run_objective("balanceUtilization", nodes, pods, args=_TARGET, packs=False)

    assert evicted(decisions) == ["large", "small"]
    assert goal_of(decisions).sentence == "2 nodes over target → 0 with 2 evictions (at least 2 are needed)"


def test_no_more_pods_leave_instead_than_the_plan_may_evict() -> None:
    nodes = [make_node(name, cpu="10") for name in "abc"]
    pods = [agent("a", "4"), agent("b", "5"), agent("c", "5"), *pods_on("a", big="3", small="1500m", other="1500m")]

    decisions = run_objective("balanceUtilization", nodes, pods, args=_TARGET, planner={"maxEvictions": 1}, packs=False)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == 1


def test_no_better_plan_exists_where_only_an_exchange_of_spread_pods_would_be_one() -> None:
    """In each other's places both would be under their targets, but a zone has none while one of them is moved."""
    nodes = [
        make_node(name, cpu=cpu, labels={"zone": zone}) for name, cpu, zone in (("a", "10", "1"), ("b", "12", "2"))
    ]
    nodes.append(make_node("room", cpu="9", labels={"zone": "2"}))
    spread: Object = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    web = [
        make_pod(name, cpu=cpu, node=node, labels={"app": "web"}, spread=[spread])
        for name, cpu, node in (("large", "6", "a"), ("small", "5", "b"))
    ]

    decisions = run_objective("balanceUtilization", nodes, [*web, agent("a", "2"), agent("b", "2")], args=_TARGET)

    assert goal_of(decisions).sentence.startswith("1 node over target → 1 with 0 evictions; no plan does better;")
