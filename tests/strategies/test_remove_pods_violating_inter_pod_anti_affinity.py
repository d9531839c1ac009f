"""RemovePodsViolatingInterPodAntiAffinity: who leaves when pods that must keep apart are together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.strategies.runs import evicted, refused, run_plugin

PLUGIN = "RemovePodsViolatingInterPodAntiAffinity"
AWAY_FROM_BAR = required_anti_affinity({"foo": "bar"})
ONE_NODE = [make_node("a")]
TWO_NODES = [make_node("a", labels={"zone": "east"}), make_node("b", labels={"zone": "east"})]


def objectors(**facts: Any) -> list[Pod]:
    """Three pods that object to p2, which objects to nobody."""
    carriers = [make_pod(name, affinity=AWAY_FROM_BAR, **facts) for name in ("p1", "p3", "p4")]
    return [*carriers, make_pod("p2", labels={"foo": "bar"})]


def test_pods_that_carry_the_anti_affinity_leave_and_not_the_one_they_object_to() -> None:
    decisions = run_plugin(PLUGIN, ONE_NODE, objectors())

    assert evicted(decisions) == ["p1", "p3", "p4"]


def test_total_limit_ends_the_plugin() -> None:
    decisions = run_plugin(PLUGIN, ONE_NODE, objectors(), policy={"maxNoOfPodsToEvictTotal": 1})

    assert evicted(decisions) == ["p1"]


def test_terminating_pods_are_left_alone() -> None:
    decisions = run_plugin(PLUGIN, ONE_NODE, objectors(deleted=5))

    assert evicted(decisions) == []
    assert refused(decisions) == dict.fromkeys(("p1", "p3", "p4"), "Terminating")


def test_mutual_objection_moves_the_less_important_pod_alone() -> None:
    facts: Mapping[str, Any] = {"labels": {"foo": "bar"}, "affinity": AWAY_FROM_BAR}
    pods = [make_pod("high", priority=9, **facts), make_pod("low", priority=1, **facts)]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods)

    assert evicted(decisions) == ["low"]


def test_second_term_too_is_judged_without_the_pods_that_have_left() -> None:
    terms = [
        {"labelSelector": {"matchLabels": labels}, "topologyKey": "zone"}
        for labels in ({"foo": "bar"}, {"foo": "bar", "tier": "web"})
    ]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    labels = {"foo": "bar", "tier": "web"}
    pods = [make_pod(name, labels=labels, affinity=affinity) for name in ("p1", "p2")]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods)

    assert evicted(decisions) == ["p1"]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"key": "zone"}, ["p1"], id="both nodes are in one zone"),
        pytest.param({"key": "kubernetes.io/hostname"}, [], id="host names differ"),
        pytest.param({"key": "rack"}, [], id="nodes without the label are in no domain"),
        pytest.param({"key": "zone", "namespaces": ["other"]}, [], id="the partner's namespace is not listed"),
        pytest.param(
            {"key": "zone", "namespaces": ["other", "default"]}, ["p1"], id="the partner's namespace is listed"
        ),
        pytest.param({"key": "zone", "namespaceSelector": {}}, ["p1"], id="a namespace selector is not looked at"),
    ],
)
def test_partners_on_other_nodes_count_within_the_topology_domain(
    facts: Mapping[str, Any], expected: list[str]
) -> None:
    pods = [
        make_pod("p1", node="a", affinity=required_anti_affinity({"foo": "bar"}, **facts)),
        make_pod("p2", node="b", labels={"foo": "bar"}),
    ]

    decisions = run_plugin(PLUGIN, TWO_NODES, pods)

    assert evicted(decisions) == expected


def test_same_node_needs_no_topology_label() -> None:
    pods = [
        make_pod("p1", affinity=required_anti_affinity({"foo": "bar"}, key="rack")),
        make_pod("p2", labels={"foo": "bar"}),
    ]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods)

    assert evicted(decisions) == ["p1"]


@pytest.mark.parametrize(
    ("compatibility", "expected"),
    [
        pytest.param("upstream", [], id="upstream takes a namesake for the pod itself"),
        pytest.param("fixed", ["web"], id="fixed does not"),
    ],
)
def test_pod_of_the_same_name_in_another_namespace(compatibility: Any, expected: list[str]) -> None:
    pods = [
        make_pod("web", affinity=required_anti_affinity({"foo": "bar"}, namespaces=["other"])),
        make_pod("web", namespace="other", labels={"foo": "bar"}),
    ]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods, compatibility=compatibility)

    assert evicted(decisions) == expected


def test_pods_left_out_by_the_arguments_are_no_partners_either() -> None:
    decisions = run_plugin(
        PLUGIN, ONE_NODE, objectors(labels={"app": "x"}), args={"labelSelector": {"matchLabels": {"app": "x"}}}
    )

    assert evicted(decisions) == []


def test_protected_pods_stay_and_remain_partners() -> None:
    pods = [
        make_pod("p1", affinity=AWAY_FROM_BAR, labels={"foo": "bar"}, priority=2_000_000_000),
        make_pod("p2", affinity=AWAY_FROM_BAR),
    ]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods)

    assert evicted(decisions) == ["p2"]


def test_malformed_term_spares_the_pod() -> None:
    malformed = {"labelSelector": {"matchLabels": {"foo": "not a value!"}}, "topologyKey": "zone"}
    affinity = required_anti_affinity({"foo": "bar"})
    affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].insert(0, malformed)
    pods = [make_pod("p1", affinity=affinity), make_pod("p2", labels={"foo": "bar"})]

    decisions = run_plugin(PLUGIN, ONE_NODE, pods)

    assert evicted(decisions) == []


def test_reason_names_the_partner_and_the_place() -> None:
    pods = [
        make_pod("p1", node="a", affinity=required_anti_affinity({"foo": "bar"}, key="zone")),
        make_pod("p2", node="b", labels={"foo": "bar"}),
    ]

    decisions = run_plugin(PLUGIN, TWO_NODES, pods)

    (booked,) = decisions.moves
    assert booked.reason == "violates required anti-affinity with pod default/p2 in zone=east"
