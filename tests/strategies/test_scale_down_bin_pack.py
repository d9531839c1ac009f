"""ScaleDownBinPack: which pods go first, and how many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.strategies.scale_down_bin_pack import NodePods, ScaleDownBinPackArgs, burden, ranked, weights_of
from tests.builders import Object, make_node, make_pod
from tests.strategies.asked import Asked
from tests.strategies.runs import evicted, refused, run_plugin

WEB = {"podSelectors": [{"name": "web", "selector": {"matchLabels": {"app": "web"}}}]}
NODES = [make_node("a"), make_node("b")]


def web(name: str, node: str, cpu: str = "1", **facts: Any) -> Pod:
    """A pod of the workload that is scaled down."""
    return make_pod(name, node=node, cpu=cpu, labels={"app": "web"}, **facts)


def run(pods: Sequence[Pod], args: Object | None = None, nodes: Sequence[Node] = NODES, **others: Any) -> Decisions:
    """A run that evicts up to a hundred pods of `web`."""
    defaults = {"strategy": "EvictDirectly", "maxPodsToEvict": 100, **WEB}
    return run_plugin("ScaleDownBinPack", nodes, pods, args={**defaults, **(args or {})}, **others)


def test_nodes_with_less_of_others_go_first() -> None:
    pods = [web("w-a", "a"), web("w-b", "b"), make_pod("other", node="a", cpu="1")]

    assert evicted(run(pods)) == ["w-b", "w-a"]


def test_the_score_is_the_share_of_others_for_one_of_targets() -> None:
    """Node a is burdened with 1 for 1, node b with 2 for 3: what others request alone would say a."""
    pods = [web("w-a", "a"), make_pod("x", node="a", cpu="1"), web("w-b", "b", "3"), make_pod("y", node="b", cpu="2")]

    assert evicted(run(pods)) == ["w-b", "w-a"]


def test_shares_are_of_allocatable_and_weighted() -> None:
    pods = [
        web("w-a", "a", memory="1Gi"),
        make_pod("x", node="a", cpu="1", memory="4Gi"),
        web("w-b", "b", memory="1Gi"),
        make_pod("y", node="b", cpu="2"),
    ]

    assert evicted(run(pods, {"resourceWeights": {"cpu": 10}})) == ["w-a", "w-b"]
    assert evicted(run(pods, {"resourceWeights": {"memory": 10}})) == ["w-b", "w-a"]


def test_resources_without_a_weight_have_weight_one() -> None:
    gpu = {"requests": {"example.com/gpu": "1"}}
    nodes = [make_node(name, allocatable={"example.com/gpu": "1"}) for name in "ab"]
    pods = [web("w-a", "a"), make_pod("x", node="a", **gpu), web("w-b", "b"), make_pod("y", node="b", cpu="1")]

    assert evicted(run(pods, nodes=nodes)) == ["w-a", "w-b"]
    assert evicted(run(pods, {"resources": ["cpu", "example.com/gpu"]}, nodes)) == ["w-b", "w-a"]


def test_a_node_whose_targets_request_nothing_comes_last_when_others_do() -> None:
    pods = [
        make_pod("w-a", node="a", labels={"app": "web"}),
        make_pod("x", node="a", cpu="1"),
        web("w-b", "b"),
        make_pod("y", node="b", cpu="3"),
    ]

    assert evicted(run(pods)) == ["w-b", "w-a"]


def test_a_node_where_nobody_requests_anything_has_no_burden() -> None:
    pods = [web("w-a", "a"), make_pod("x", node="a", cpu="1"), make_pod("w-b", node="b", labels={"app": "web"})]

    assert evicted(run(pods)) == ["w-b", "w-a"]


def test_targets_that_the_filter_refuses_burden_their_node() -> None:
    pods = [web("w-a", "a"), web("daemon", "a", owners=["DaemonSet/d"]), web("w-b", "b")]

    decisions = run(pods)

    assert (evicted(decisions), refused(decisions)) == (["w-b", "w-a"], {"daemon": "DaemonSet"})


def test_equal_nodes_go_by_number_of_targets_then_by_name() -> None:
    pods = [web("a0", "a"), web("a1", "a"), web("c0", "c"), web("b0", "b")]

    assert evicted(run(pods, nodes=[*NODES, make_node("c")]))[:2] == ["b0", "c0"]


def test_within_a_node_large_pods_go_first_then_new_ones_then_by_name() -> None:
    pods = [
        web("small", "a", "500m"),
        web("old", "a", age=7200),
        web("b", "a", age=60),
        web("a", "a", age=60),
        web("large", "a", "2"),
    ]

    assert evicted(run(pods)) == ["large", "a", "b", "old", "small"]


def test_finished_pods_neither_go_nor_burden_a_node() -> None:
    pods = [web("w-a", "a"), make_pod("done", node="a", cpu="3", phase="Succeeded"), web("done-b", "b", phase="Failed")]

    assert evicted(run(pods)) == ["w-a"]


def test_it_ends_when_enough_evictions_are_granted() -> None:
    pods = [web("w0", "a"), web("w1", "a"), web("w2", "a")]

    decisions = run(pods, {"maxPodsToEvict": 2})

    assert (evicted(decisions), refused(decisions)) == (["w0", "w1"], {"w2": "LimitReached"})
    assert [refusal.verdict.message for refusal in decisions.refusals] == ["maxPodsToEvict (2) reached"]
    assert decisions.moves[0].reason == "number 1 of 3 pods to scale down"


def test_a_percentage_is_one_of_the_ranked_pods() -> None:
    pods = [*(web(f"w{index}", "a", "100m") for index in range(5)), make_pod("other", node="b")]

    decisions = run(pods, {"maxPodsToEvict": "50%"})

    assert len(evicted(decisions)) == 2
    assert {refusal.verdict.message for refusal in decisions.refusals} == {"maxPodsToEvict (50%: 2 of 5 pods) reached"}


def test_a_refused_eviction_does_not_count() -> None:
    pods = [web("w0", "a", namespace="shop"), web("w1", "a", namespace="shop"), web("w2", "b", namespace="web")]

    decisions = run(pods, {"maxPodsToEvict": 2}, policy={"maxNoOfPodsToEvictPerNamespace": 1})

    assert evicted(decisions) == ["w2", "w0"]


def test_only_selected_nodes_are_looked_at() -> None:
    nodes = [make_node("a", labels={"pool": "x"}), make_node("b")]

    decisions = run([web("w-a", "a"), web("w-b", "b")], {"nodeSelector": {"matchLabels": {"pool": "x"}}}, nodes)

    assert evicted(decisions) == ["w-a"]


def test_namespaces_choose_the_pods() -> None:
    decisions = run([web("w-a", "a"), web("s", "a", namespace="shop")], {"evictableNamespaces": {"include": ["shop"]}})

    assert evicted(decisions) == ["s"]
    assert decisions.facts["p", "ScaleDownBinPack"].left_out == {"evictableNamespaces.include": 1}


@pytest.mark.parametrize("strategy", [{}, {"strategy": "CalculateOnly"}, {"strategy": ""}])
def test_calculating_ranks_pods_and_evicts_none(strategy: Object) -> None:
    decisions = run_plugin("ScaleDownBinPack", NODES, [web("w", "a"), make_pod("x")], args={**WEB, **strategy})

    facts = decisions.facts["p", "ScaleDownBinPack"]
    assert (evicted(decisions), refused(decisions)) == ([], {})
    assert facts.left_out == {"podSelectors": 1, "strategy": 1}
    assert facts.counts == {"rankedPods": 1}


WEIGHTS = {"cpu": 1.0}


@pytest.mark.parametrize(
    ("targets", "others", "expected"),
    [
        pytest.param(("1",), ("2",), 2.0, id="twice as much of others"),
        pytest.param(("1", "3"), ("2",), 0.5, id="half as much of others"),
        pytest.param(("1",), (), 0.0, id="nothing of others"),
        pytest.param((None,), ("2",), float("inf"), id="nothing of targets"),
        pytest.param((None,), (None,), 0.0, id="nothing at all"),
    ],
)
def test_burden_of_a_node_is_the_share_of_others_for_one_of_targets(
    targets: Sequence[str | None], others: Sequence[str | None], expected: float
) -> None:
    going, staying = ([make_pod(str(each), cpu=cpu) for each, cpu in enumerate(of)] for of in (targets, others))

    assert burden(NodePods(NODES[0], going, staying), WEIGHTS) == expected


def test_weights_and_resources_that_a_node_does_not_have() -> None:
    """Of 4 CPUs others request 1/4, of 8 GiB 1/2; targets request 1/4 of both."""
    going, staying = [make_pod("t", cpu="1", memory="2Gi")], [make_pod("o", cpu="1", memory="4Gi")]
    node = NodePods(NODES[0], going, staying)

    assert burden(node, {"cpu": 1.0, "memory": 1.0, "example.com/gpu": 9.0}) == 1.5
    assert burden(node, {"cpu": 1.0, "memory": 3.0}) == 1.75


def test_pods_are_ranked_by_node_then_by_size_age_and_name() -> None:
    late = [make_pod(name, cpu="1", age=age) for name, age in (("old", 90), ("new", 60), ("a", 60), ("timeless", None))]
    large = make_pod("large", cpu="2", age=90)
    nodes = [
        NodePods(make_node("b"), [make_pod("b", cpu="1")], []),
        NodePods(make_node("a"), [make_pod("a", cpu="1")], []),
        NodePods(make_node("c"), [*late, large], []),
        NodePods(make_node("d"), [make_pod("d", cpu="1")], [make_pod("x", cpu="1")]),
    ]

    assert [pod.name for pod in ranked(nodes, WEIGHTS)] == ["a", "b", "large", "a", "new", "old", "timeless", "d"]


def test_resources_without_a_weight_of_their_own_weigh_one() -> None:
    assert weights_of(ScaleDownBinPackArgs()) == {"cpu": 1.0, "memory": 1.0}
    assert weights_of(ScaleDownBinPackArgs(resources=("gpu",), resource_weights={"cpu": 2.0})) == {
        "cpu": 2.0,
        "gpu": 1.0,
    }


@pytest.mark.parametrize(
    ("most", "evicted_names"),
    [pytest.param(1, ["w0"], id="one"), pytest.param("67%", ["w0", "w1"], id="two thirds of three ranked pods")],
)
def test_limit_of_the_plugin_keeps_the_pods_of_higher_rank(most: int | str, evicted_names: list[str]) -> None:
    pods = [web(f"w{number}", "a", str(3 - number)) for number in range(3)]
    asked = Asked("ScaleDownBinPack", NODES, pods, args={"strategy": "EvictDirectly", "maxPodsToEvict": most})

    assert asked.evicted == evicted_names
    assert [each.verdict.code for each in asked.decisions.refusals] == ["LimitReached"] * (3 - len(evicted_names))
    assert asked.decisions.refusals[-1].reason == "number 3 of 3 pods to scale down"


@pytest.mark.parametrize(
    ("facts", "args", "why"),
    [
        pytest.param({}, {}, "number 1 of 1 pod to scale down (strategy: CalculateOnly)", id="a pod that is ranked"),
        pytest.param(
            {"annotations": {"kubernetes.io/config.source": "file"}},
            {},
            "not ranked: the filter plugins refuse the pod (strategy: CalculateOnly)",
            id="a pod that the filters refuse",
        ),
        pytest.param({"phase": "Failed"}, {}, "the pod has finished", id="it has finished"),
        pytest.param({}, {"paused": True}, "the plugin is paused (paused: true)", id="paused"),
        pytest.param(
            {}, {"nodeSelector": {"matchLabels": {"pool": "x"}}}, "no node matches nodeSelector", id="no node"
        ),
    ],
)
def test_why_a_pod_is_not_scaled_down(facts: Object, args: Object, why: str) -> None:
    pod = web("w", "a", **facts)

    assert Asked("ScaleDownBinPack", NODES, [pod], args=args).why_not(pod) == why


def test_ranks_alone_evict_nothing_and_say_so() -> None:
    facts = Asked("ScaleDownBinPack", NODES, [web("w", "a"), web("x", "b")]).decisions.facts["p", "ScaleDownBinPack"]

    assert facts.why_nothing == "2 pods ranked, none is evicted (strategy: CalculateOnly)"
    assert (facts.pods_examined, facts.pods_selected, facts.left_out) == (2, 0, {"strategy": 2})
