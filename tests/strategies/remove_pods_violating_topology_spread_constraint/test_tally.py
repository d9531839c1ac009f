"""What is told of topology spread constraints: how far they are from their limits, and why pods stay."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.plan.facts import NearestValue, PluginFacts
from tests.builders import Object, make_node, make_pod
from tests.strategies.asked import Asked
from tests.strategies.remove_pods_violating_topology_spread_constraint.test_domains import NODES, spread, web

PLUGIN = "RemovePodsViolatingTopologySpreadConstraint"
SKEW = "the largest skew is {} over zone in namespace default (maxSkew: 1)"


def ask(*pods: Any, args: Object | None = None) -> Asked:
    return Asked(PLUGIN, NODES, pods, args={"namespaces": {"exclude": ["kube-system"]}, **(args or {})})


def zones(*numbers: int, **facts: Any) -> list[Any]:
    return [
        web(f"p{zone}-{each}", f"n{zone}", **facts) for zone, number in enumerate(numbers) for each in range(number)
    ]


@pytest.mark.parametrize(
    ("pods", "facts", "why"),
    [
        pytest.param(zones(2, 1, 1), {}, SKEW.format("1 pod"), id="the skew is allowed"),
        pytest.param(
            zones(4, 1, 1), {}, f"other pods are selected: {SKEW.format('3 pods')}", id="other pods are selected"
        ),
        pytest.param(
            zones(3, 1, 1),
            {"labels": {"app": "db"}, "spread": ()},
            "no topology spread constraint in namespace default selects the pod (constraints: DoNotSchedule)",
            id="a pod that no constraint counts",
        ),
        pytest.param(
            zones(3, 1, 1),
            {"namespace": "shop", "spread": ()},
            "no evictable pod in namespace shop has a topology spread constraint (constraints: DoNotSchedule)",
            id="a namespace without constraints",
        ),
        pytest.param(
            zones(3, 1, 1),
            {"namespace": "kube-system"},
            "namespace kube-system is excluded (namespaces.exclude)",
            id="an excluded namespace",
        ),
        pytest.param(zones(2, 1, 1), {"phase": "Failed"}, "the pod has finished", id="a pod that has finished"),
        pytest.param(
            zones(3, 0, 0, node_selector={"zone": "z0"}, spread=[spread(nodeAffinityPolicy="Ignore")]),
            {"node_selector": {"zone": "z0"}, "spread": [spread(nodeAffinityPolicy="Ignore")]},
            "other pods are selected, such as default/p0-2, which fits on no node in a less full domain"
            f" (topologyBalanceNodeFit: true): {SKEW.format('4 pods')}",
            id="pods that fit nowhere else",
        ),
    ],
)
def test_why_a_pod_is_not_selected(pods: list[Any], facts: dict[str, Any], why: str) -> None:
    pod = web("x", **facts)
    counted = [pod] if "node_selector" in facts or "labels" in facts or "namespace" in facts else []

    assert ask(*pods, *counted).why_not(pod) == why


def test_facts_count_pods_by_what_keeps_them() -> None:
    pods = [
        *zones(3, 1, 0),
        web("system", namespace="kube-system"),
        make_pod("plain", node="n0", namespace="shop"),
        web("static", annotations={"kubernetes.io/config.source": "file"}),
    ]

    facts = ask(*pods).decisions.facts["p", PLUGIN]

    assert facts == PluginFacts(
        "",
        7,
        1,
        left_out={"namespaces.exclude": 1, "spec.topologySpreadConstraints": 1, "filter": 1, "maxSkew": 3},
        nearest=(NearestValue("maxSkew", 1, 3, "pods", "zone in namespace default"),),
        counts={"constraints": 1},
    )


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        pytest.param(
            zones(2, 1, 1),
            f"no topology spread constraint is violated: {SKEW.format('1 pod')}",
            id="nothing is violated",
        ),
        pytest.param(
            [make_pod("p", node="n0")],
            "no evictable pod has a topology spread constraint (constraints: DoNotSchedule)",
            id="no constraint",
        ),
        pytest.param(
            zones(2, spread=[spread(labelSelector=None)]),
            "no topology spread constraint counts a pod: that over zone in namespace default has no labelSelector,"
            " which selects none",
            id="a constraint that counts no pod",
        ),
        pytest.param(
            [web("p", namespace="kube-system")],
            "every pod is in an excluded namespace (namespaces.exclude: kube-system); 1 pod examined",
            id="no pod is looked at",
        ),
    ],
)
def test_why_nothing_is_selected(pods: list[Any], why: str) -> None:
    facts = ask(*pods).decisions.facts["p", PLUGIN]

    assert (facts.why_nothing, facts.pods_selected) == (why, 0)


def test_constraint_nearest_to_its_limit_is_told() -> None:
    api = {"app": "api"}
    loose = web("loose", "n1", labels=api, spread=[spread(maxSkew=5, labelSelector={"matchLabels": api})])

    facts = ask(*zones(2, 1, 1), loose).decisions.facts["p", PLUGIN]

    assert [(near.limit, near.value) for near in facts.nearest] == [(1, 1)]
    assert facts.counts == {"constraints": 2}


class TestSelectsAgain:
    """Four pods in zone z0, and one in each of the others: two of z0 leave."""

    def test_domain_that_has_too_many_pods_again(self) -> None:
        pods = zones(4, 1, 1)
        asked = ask(*pods)

        assert asked.evicted == ["p0-3", "p0-2"]
        assert asked.selects_again(pods[3], "n0") == (
            "z0 has 3 more pods than the emptiest zone (topologyKey: zone, maxSkew: 1, labelSelector: app in (web))"
        )
        assert asked.selects_again(pods[3], "n1") == ""

    def test_pods_that_leave_with_it_make_the_domain_small_enough(self) -> None:
        pods = zones(4, 1, 1)

        assert ask(*pods).selects_again(pods[3], "n0", also_gone=pods[1:3]) == ""

    def test_replacement_that_the_constraint_does_not_count(self) -> None:
        pods = zones(4, 1, 1)

        assert ask(*pods).selects_again(pods[3], "n0", labels={"app": "db"}) == ""
        assert ask(*pods).selects_again(pods[3], "n0", namespace="kube-system") == ""

    def test_pod_that_was_not_selected(self) -> None:
        pods = zones(4, 1, 1)

        assert ask(*pods).selects_again(pods[0], "n0") == ""

    def test_pods_that_the_plugin_does_not_count(self) -> None:
        static = web("static", "n1", annotations={"kubernetes.io/config.source": "file"})
        pods = zones(3, 1, 1)

        assert ask(*pods, static, make_pod("db", node="n1", labels={"app": "db"})).selects_again(pods[2], "n1") == ""

    def test_node_without_the_label(self) -> None:
        pods = zones(4, 1, 1)
        asked = Asked(PLUGIN, [*NODES, make_node("bare")], pods)

        assert asked.selects_again(pods[3], "bare") == ""
