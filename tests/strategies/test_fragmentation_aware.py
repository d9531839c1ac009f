"""FragmentationAware: which pod leaves a node whose resources are requested unevenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.strategies.fragmentation_aware import NodeBalance
from tests.builders import Object, make_node, make_pod
from tests.strategies.runs import evicted, refused, run_plugin


def square(name: str, **facts: Any) -> Node:
    """A node of 4 cores and 4 GiB."""
    return make_node(name, cpu="4", memory="4Gi", **facts)


def pod(name: str, cpu: str, memory: str, node: str = "a", **facts: Any) -> Pod:
    """A pod on node `a` unless said."""
    return make_pod(name, cpu=cpu, memory=memory, node=node, **facts)


NODES = [square("a"), square("b")]
UNEVEN = [pod("large", "2500m", "512Mi"), pod("small", "500m", "512Mi")]
"""Shares of 0.75 and 0.25 on node a: an imbalance of 0.25, which only goes without the large pod."""


def run(pods: Sequence[Pod], args: Object | None = None, nodes: Sequence[Node] = NODES, **others: Any) -> Decisions:
    """A run with the default thresholds."""
    return run_plugin("FragmentationAware", nodes, pods, args=args, **others)


def test_the_pod_without_which_a_node_is_most_even_leaves() -> None:
    decisions = run(UNEVEN)

    assert evicted(decisions) == ["large"]
    assert decisions.moves[0].reason == "imbalance of node a: 0.25 (imbalanceThreshold: 0.15), 0 without the pod"


def test_one_pod_leaves_each_node() -> None:
    pods = [
        pod("p0", "1", "64Mi"),
        pod("p1", "1", "64Mi"),
        pod("q0", "1500m", "64Mi", "b"),
        pod("q1", "1", "64Mi", "b"),
    ]

    assert evicted(run(pods)) == ["p0", "q0"]


@pytest.mark.parametrize(("threshold", "leaving"), [(0.24, ["large"]), (0.25, []), (0.3, [])])
def test_a_node_must_be_above_the_threshold(threshold: float, leaving: list[str]) -> None:
    decisions = run(UNEVEN, {"imbalanceThreshold": threshold})

    assert evicted(decisions) == leaving
    assert decisions.facts["p", "FragmentationAware"].counts == {"imbalancedNodes": len(leaving)}


@pytest.mark.parametrize(("threshold", "leaving"), [(0.24, ["large"]), (0.25, []), (0.3, [])])
def test_the_imbalance_must_fall_by_more_than_the_least_improvement(threshold: float, leaving: list[str]) -> None:
    assert evicted(run(UNEVEN, {"minImprovementThreshold": threshold})) == leaving


def test_a_pod_that_makes_a_node_less_even_stays() -> None:
    pods = [pod("cpu", "3", "64Mi", owners=["DaemonSet/d"]), pod("memory", "100m", "1Gi")]

    assert evicted(run(pods)) == []


def test_pods_that_may_not_go_count_for_their_node_and_the_next_best_leaves() -> None:
    pods = [pod("best", "2500m", "512Mi", namespace="kube-system"), pod("next", "1", "128Mi")]

    decisions = run(pods, {"evictableNamespaces": {"exclude": ["kube-system"]}})

    assert evicted(decisions) == ["next"]
    assert decisions.facts["p", "FragmentationAware"].left_out == {"evictableNamespaces.exclude": 1}


def test_the_next_best_leaves_where_the_filter_refuses_the_best() -> None:
    pods = [pod("best", "2500m", "512Mi", owners=["DaemonSet/d"]), pod("next", "1", "128Mi")]

    decisions = run(pods)

    assert (evicted(decisions), refused(decisions)) == (["next"], {"best": "DaemonSet"})


def test_the_next_best_leaves_where_no_other_node_fits_the_best() -> None:
    pods = [pod("best", "2500m", "512Mi", node_selector={"pool": "x"}), pod("next", "1", "128Mi")]

    decisions = run(pods)

    assert (evicted(decisions), refused(decisions)) == (["next"], {"best": "NoNodeFits"})


def test_without_node_fit_the_best_leaves() -> None:
    pods = [pod("best", "2500m", "512Mi", node_selector={"pool": "x"}), pod("next", "1", "128Mi")]

    assert evicted(run(pods, {"nodeFit": False})) == ["best"]


def test_no_other_pod_leaves_where_the_pre_eviction_filter_refuses_the_best() -> None:
    """The filter of DefaultEvictor asks for room for pods of a node as well, which node fit here does not."""
    nodes = [square("a"), square("b", pods="0")]

    decisions = run(UNEVEN, {"minImprovementThreshold": 0}, nodes, evictor={"nodeFit": True}, compatibility="fixed")

    assert (evicted(decisions), refused(decisions)) == ([], {"large": "NoNodeFits"})


def test_only_selected_nodes_give_and_take() -> None:
    nodes = [square("a", labels={"pool": "x"}), square("b"), square("c", labels={"pool": "x"}, unschedulable=True)]
    pods = [*UNEVEN, pod("other", "3", "64Mi", "b")]

    decisions = run(pods, {"nodeSelector": {"matchLabels": {"pool": "x"}}}, nodes)

    assert (evicted(decisions), refused(decisions)) == ([], {"large": "NoNodeFits"})


def test_only_pods_of_a_selector_leave() -> None:
    pods = [*UNEVEN, pod("web", "1", "64Mi", labels={"app": "web"})]

    assert evicted(run(pods, {"podSelectors": [{"selector": {"matchLabels": {"app": "web"}}}, {}]})) == ["web"]


def test_resources_that_a_node_does_not_have_do_not_count() -> None:
    gpus = {"allocatable": {"example.com/gpu": "2"}}
    args = {"resources": ["cpu", "memory", "example.com/gpu"]}
    even = [make_pod("p", cpu="2", memory="2Gi")]

    assert evicted(run(even, args)) == []
    assert evicted(run(even, args, [square("a", **gpus), square("b", **gpus)])) == ["p"]


def test_finished_pods_request_nothing() -> None:
    assert evicted(run([*UNEVEN, pod("done", "64m", "2Gi", phase="Succeeded")])) == ["large"]


def test_init_containers_count_as_the_scheduler_has_it() -> None:
    init = [{"name": "i", "image": "i", "resources": {"requests": {"memory": "3Gi"}}}]

    decisions = run([make_pod("p", cpu="1", memory="64Mi", spec={"initContainers": init})])

    assert evicted(decisions) == ["p"]


def test_a_dry_run_selects_and_evicts_nothing() -> None:
    decisions = run(UNEVEN, {"dryRun": True})

    assert (evicted(decisions), refused(decisions)) == ([], {"large": "DryRun"})


def test_facts_count_imbalanced_nodes_and_what_their_pods_miss() -> None:
    facts = run(UNEVEN).facts["p", "FragmentationAware"]

    assert (facts.pods_examined, facts.pods_selected) == (2, 1)
    assert (facts.left_out, facts.counts) == ({"minImprovementThreshold": 1}, {"imbalancedNodes": 1})


@pytest.mark.parametrize(
    ("requested", "imbalance"),
    [
        pytest.param({"cpu": 2, "memory": 2}, 0.0, id="even"),
        pytest.param({"cpu": 4, "memory": 0}, 0.5, id="all of one resource"),
        pytest.param({"cpu": 4, "memory": 2, "gpu": 0}, 0.4082482904638630, id="three resources"),
        pytest.param({"cpu": 3}, 0.0, id="one resource"),
        pytest.param({}, 0.0, id="no resource"),
    ],
)
def test_imbalance_is_the_standard_deviation_of_requested_shares(requested: dict[str, int], imbalance: float) -> None:
    node = replace(make_node("a"), allocatable={"cpu": 4, "memory": 4, "gpu": 4})

    assert NodeBalance(node, requested).imbalance == pytest.approx(imbalance)


def test_resources_that_a_node_has_none_of_are_left_out_of_its_balance() -> None:
    node = replace(make_node("a"), allocatable={"cpu": 4, "gpu": 0})

    assert NodeBalance.of(node, [make_pod("p", cpu="1")], ["cpu", "gpu", "memory"]).requested == {"cpu": 10**9}
