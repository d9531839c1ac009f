"""MigrationPlanner in a run that is limited to pods of some namespaces (-n, -l): it plans with these alone."""

from __future__ import annotations

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.scope import Scope
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot
from tests.planner.runs import goal_of, verified
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10") for name in "abc"]
PODS = [
    make_pod("shop-a", cpu="3", node="a", namespace="shop"),
    make_pod("blog-a", cpu="6", node="a", namespace="blog"),
    make_pod("blog-b", cpu="8", node="b", namespace="blog"),
]


def run_within(*namespaces: str, objective: Object) -> Decisions:
    """What is decided with the pods of these namespaces."""
    policy = load_policy(
        verified({"objectives": [objective], "timeLimit": "60s", "workLimit": 1}, packs=False), REGISTRY
    )
    setting = RunSetting(scope=Scope(frozenset(namespaces)))
    return decide(policy, make_snapshot(NODES, PODS), now=NOW, setting=setting)


def test_what_is_proven_is_about_pods_in_scope() -> None:
    decisions = run_within("shop", objective={"balanceUtilization": {"targetThresholds": {"cpu": 70}}})

    assert evicted(decisions) == ["shop-a"]
    assert goal_of(decisions).sentence == (
        "2 nodes over target → 1 with 1 eviction; no plan does better; node b stays over its target: 1 of 1 pod cannot"
        " be evicted (pod blog/blog-b: the run is limited to pods of namespace shop)"
    )


def test_it_is_said_that_no_pod_is_in_scope() -> None:
    decisions = run_within("nowhere", objective={"consolidateNodes": {}})

    assert goal_of(decisions).sentence == (
        "2 nodes in use → 2 with 0 evictions; 0 of 3 pods can be evicted (3 like pod blog/blog-a: the run is limited to"
        " pods of namespace nowhere)"
    )
