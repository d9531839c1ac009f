"""Balancing where the scheduler finds no good node for some of the pods that it would be best to evict."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod
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
