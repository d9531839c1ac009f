"""CustomPriority: which pods leave expensive nodes for cheaper ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_node, make_pod, required_node_affinity
from tests.strategies.runs import evicted, refused, run_plugin

DRAIN = {"mode": "DrainNode"}


def level(name: str, value: str | None = None) -> Object:
    """The level of the nodes with label `tier` of this value, by default its name."""
    return {"name": name, "nodeSelector": {"matchLabels": {"tier": value or name}}}


GOLD_FIRST = {"evictionOrder": [level("gold"), level("silver"), level("bronze")]}


def tier(name: str, value: str, **facts: Any) -> Node:
    """A node of a level, with 4 cores, 8 GiB and room for 110 pods."""
    return make_node(name, labels={"tier": value}, **facts)


def sized(node: str, *cpus: str, **facts: Any) -> list[Pod]:
    """Pods `p0`, `p1`, … of these requests on `node`."""
    return [make_pod(f"p{index}", node=node, cpu=cpu, **facts) for index, cpu in enumerate(cpus)]


def run(nodes: Sequence[Node], pods: Sequence[Pod], args: Object | None = None, **others: Any) -> Decisions:
    """A run over the levels gold, silver and bronze."""
    return run_plugin(
        "CustomPriority", nodes, pods, args={**GOLD_FIRST, **(args or {})}, compatibility="fixed", **others
    )


def test_pods_leave_every_level_but_the_last_that_has_nodes() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver"), tier("b", "bronze"), make_node("x")]
    pods = [make_pod(f"on-{node}", node=node) for node in "gsbx"]

    assert evicted(run(nodes, pods)) == ["on-g", "on-s"]


def test_a_node_belongs_to_the_first_level_that_selects_it() -> None:
    order = {"evictionOrder": [level("first", "gold"), level("again", "gold"), level("last", "silver")]}

    decisions = run([tier("g", "gold"), tier("s", "silver")], [make_pod("p", node="g")], order)

    assert evicted(decisions) == ["p"]
    assert decisions.moves[0].reason == "in level first of evictionOrder, before last (mode: BestEffort)"


def test_any_node_of_any_later_level_may_take_a_pod() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1"), tier("b", "bronze")]

    assert evicted(run(nodes, [make_pod("p", node="g", cpu="2")])) == ["p"]


def test_small_pods_leave_first_by_cpu_then_memory_then_name() -> None:
    pods = [
        make_pod("wide", node="g", cpu="100m", memory="2Gi"),
        make_pod("large", node="g", cpu="200m"),
        make_pod("b", node="g", cpu="100m", memory="1Gi"),
        make_pod("a", node="g", cpu="100m", memory="1Gi"),
    ]

    assert evicted(run([tier("g", "gold"), tier("s", "silver")], pods)) == ["a", "b", "wide", "large"]


def test_pods_of_one_node_are_all_fitted_before_the_first_of_them_moves() -> None:
    """Koordinator looks at the room as it is before the node; placement verification looks again, where it is on."""
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1")]

    assert evicted(run(nodes, sized("g", "700m", "800m"))) == ["p0", "p1"]


def test_a_pod_that_fits_no_later_node_stays() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1")]

    decisions = run(nodes, sized("g", "500m", "2"))

    assert evicted(decisions) == ["p0"]
    assert refused(decisions) == {"p1": "NoNodeFits"}


@pytest.mark.parametrize(
    ("facts", "taker"),
    [
        pytest.param({"affinity": required_node_affinity("tier", "gold")}, tier("s", "silver"), id="affinity"),
        pytest.param({"node_selector": {"tier": "gold"}}, tier("s", "silver"), id="node selector"),
        pytest.param({}, tier("s", "silver", taints=["k:NoSchedule"]), id="a taint"),
        pytest.param({}, tier("s", "silver", unschedulable=True), id="a cordon"),
        pytest.param({"requests": {"example.com/gpu": "1"}}, tier("s", "silver"), id="a resource it does not have"),
    ],
)
def test_what_node_fit_looks_at_keeps_a_pod(facts: dict[str, Any], taker: Node) -> None:
    decisions = run([tier("g", "gold"), taker], [make_pod("p", node="g", **facts)])

    assert refused(decisions) == {"p": "NoNodeFits"}


def test_the_number_of_pods_of_a_node_is_not_looked_at() -> None:
    assert evicted(run([tier("g", "gold"), tier("s", "silver", pods="0")], [make_pod("p", node="g")])) == ["p"]


def test_without_node_fit_every_pod_leaves() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1", unschedulable=True)]

    assert evicted(run(nodes, sized("g", "2"), {"nodeFit": False})) == ["p0"]


def test_five_misses_in_a_row_end_a_node_but_not_the_next() -> None:
    nodes = [tier("g1", "gold"), tier("g2", "gold"), tier("s", "silver", cpu="1")]
    misfits = [make_pod(f"m{index}", node="g1", cpu="2") for index in range(5)]
    later = make_pod("later", node="g1", cpu="3", node_selector={"tier": "silver"})
    other = make_pod("other", node="g2", cpu="500m")

    decisions = run(nodes, [*misfits, later, other])

    assert evicted(decisions) == ["other"]
    messages = {refusal.pod.name: refusal.verdict.message for refusal in decisions.refusals}
    assert messages["m4"] == "no node of a later level of evictionOrder fits the pod"
    assert messages["later"] == "not examined: 5 smaller pods in a row fit no node of a later level"


def test_a_pod_that_fits_starts_the_count_of_misses_again() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver")]
    pinned = {"node_selector": {"tier": "gold"}}
    before = [make_pod(f"a{index}", node="g", cpu="1", **pinned) for index in range(4)]
    between = make_pod("b", node="g", cpu="1")
    after = [make_pod(f"c{index}", node="g", cpu="1", **pinned) for index in range(4)]
    last = make_pod("d", node="g", cpu="2")

    assert evicted(run(nodes, [*before, between, *after, last])) == ["b", "d"]


def test_namespaces_and_selectors_choose_the_pods() -> None:
    pods = [
        make_pod("web", node="g", labels={"app": "web"}),
        make_pod("db", node="g", labels={"app": "db"}),
        make_pod("job", node="g", labels={"app": "job"}),
        make_pod("shop", node="g", namespace="shop", labels={"app": "web"}),
    ]
    selectors = [{"name": app, "selector": {"matchLabels": {"app": app}}} for app in ("web", "db")]
    args = {"podSelectors": selectors, "evictableNamespaces": {"exclude": ["shop"]}}

    decisions = run([tier("g", "gold"), tier("s", "silver")], pods, args)

    assert evicted(decisions) == ["db", "web"]
    assert decisions.facts["p", "CustomPriority"].left_out == {"evictableNamespaces.exclude": 1, "podSelectors": 1}


def test_a_selector_entry_without_selector_does_not_count() -> None:
    args = {"podSelectors": [{"name": "nothing"}, {"name": "web", "selector": {"matchLabels": {"app": "web"}}}]}

    decisions = run([tier("g", "gold"), tier("s", "silver")], [make_pod("p", node="g")], args)

    assert evicted(decisions) == []


def test_the_node_selector_narrows_sources_and_takers() -> None:
    pool = {"labels": {"tier": "silver", "pool": "x"}}
    nodes = [make_node("g", labels={"tier": "gold", "pool": "x"}), tier("g2", "gold"), make_node("s", cpu="1", **pool)]
    pods = [*sized("g", "500m", "2"), make_pod("out", node="g2")]

    decisions = run([*nodes, tier("s2", "silver")], pods, {"nodeSelector": {"matchLabels": {"pool": "x"}}})

    assert evicted(decisions) == ["p0"]
    assert refused(decisions) == {"p1": "NoNodeFits"}


def test_pods_that_the_filter_refuses_stay() -> None:
    pods = [make_pod("daemon", node="g", owners=["DaemonSet/d"]), make_pod("p", node="g")]

    decisions = run([tier("g", "gold"), tier("s", "silver")], pods)

    assert (evicted(decisions), refused(decisions)) == (["p"], {"daemon": "DaemonSet"})


def test_finished_pods_are_left_alone() -> None:
    pods = [make_pod("done", node="g", phase="Succeeded"), make_pod("p", node="g")]

    assert evicted(run([tier("g", "gold"), tier("s", "silver")], pods)) == ["p"]


def test_a_refused_eviction_does_not_end_the_node() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver")]
    pods = [make_pod(name, node="g", namespace="shop") for name in "ab"]
    pods += sized("g", "1", namespace="web")

    decisions = run(nodes, pods, policy={"maxNoOfPodsToEvictPerNamespace": 1})

    assert evicted(decisions) == ["a", "p0"]
    assert refused(decisions) == {"b": "LimitReached"}


@pytest.mark.parametrize("mode", ["BestEffort", "DrainNode"])
def test_a_dry_run_selects_and_evicts_nothing(mode: str) -> None:
    decisions = run(
        [tier("g", "gold"), tier("s", "silver")],
        sized("g", "1", "2"),
        {"mode": mode, "dryRun": True, "autoCordon": True},
    )

    assert (evicted(decisions), refused(decisions)) == ([], {"p0": "DryRun", "p1": "DryRun"})
    assert decisions.facts["p", "CustomPriority"].pods_selected == 2


def test_a_node_is_drained_when_all_its_candidates_have_a_place() -> None:
    nodes = [tier("g", "gold"), tier("s1", "silver", cpu="1"), tier("s2", "bronze", cpu="1")]

    assert evicted(run(nodes, sized("g", "900m", "800m"), DRAIN)) == ["p1", "p0"]


def test_a_node_with_one_candidate_too_many_is_not_drained() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1")]

    decisions = run(nodes, sized("g", "700m", "800m"), DRAIN)

    assert evicted(decisions) == []
    assert {refusal.pod.name: refusal.verdict.message for refusal in decisions.refusals} == {
        "p0": "node g is not drained: pod default/p1 fits no node of a later level (mode: DrainNode)",
        "p1": "no node of a later level of evictionOrder fits the pod",
    }


@pytest.mark.parametrize(
    ("taker", "facts"),
    [
        pytest.param({"cpu": "1"}, {"cpu": "700m"}, id="cpu"),
        pytest.param({"memory": "1Gi"}, {"memory": "700Mi"}, id="memory"),
        pytest.param({"pods": "1"}, {}, id="number of pods"),
    ],
)
def test_room_that_a_drained_node_takes_is_missing_for_the_next(taker: dict[str, Any], facts: dict[str, Any]) -> None:
    nodes = [tier("g1", "gold"), tier("g2", "gold"), tier("s", "silver", **taker)]
    pods = [make_pod("first", node="g1", **facts), make_pod("second", node="g2", **facts)]

    assert evicted(run(nodes, pods, DRAIN)) == ["first"]


def test_a_node_that_is_not_drained_takes_no_room_from_the_next() -> None:
    nodes = [tier("g1", "gold"), tier("g2", "gold"), tier("s", "silver", cpu="1")]
    pods = [*sized("g1", "600m", "700m"), make_pod("next", node="g2", cpu="900m")]

    assert evicted(run(nodes, pods, DRAIN)) == ["next"]


def test_draining_without_node_fit_still_counts_room() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1", taints=["k:NoSchedule"])]

    assert evicted(run(nodes, sized("g", "900m"), {**DRAIN, "nodeFit": False})) == ["p0"]
    assert evicted(run(nodes, sized("g", "1100m"), {**DRAIN, "nodeFit": False})) == []


def test_a_pod_without_requests_finds_a_place_on_a_full_node() -> None:
    nodes = [tier("g", "gold"), tier("s", "silver", cpu="1")]
    pods = [make_pod("p", node="g"), make_pod("full", node="s", cpu="2")]

    assert evicted(run(nodes, pods, DRAIN)) == ["p"]


def test_pods_that_the_filter_refuses_do_not_block_a_drain() -> None:
    pods = [make_pod("daemon", node="g", cpu="3", owners=["DaemonSet/d"]), make_pod("p", node="g", cpu="1")]

    assert evicted(run([tier("g", "gold"), tier("s", "silver", cpu="1")], pods, DRAIN)) == ["p"]


def test_the_first_refused_eviction_ends_the_drain_of_its_node_alone() -> None:
    nodes = [tier("g1", "gold"), tier("g2", "gold"), tier("s", "silver")]
    pods = [make_pod(f"p{index}", node="g1") for index in range(3)] + [make_pod("q", node="g2")]

    decisions = run(nodes, pods, DRAIN, policy={"maxNoOfPodsToEvictPerNode": 1})

    assert evicted(decisions) == ["p0", "q"]
    assert refused(decisions) == {"p1": "LimitReached"}


def test_an_unknown_mode_works_as_best_effort() -> None:
    assert evicted(run([tier("g", "gold"), tier("s", "silver")], sized("g", "1"), {"mode": "Drain"})) == ["p0"]


def test_a_level_with_an_invalid_selector_has_no_nodes() -> None:
    bad = {"name": "bad", "nodeSelector": {"matchExpressions": [{"key": "tier", "operator": "Invalid"}]}}
    order = {"evictionOrder": [bad, level("gold"), level("silver")]}

    assert evicted(run([tier("g", "gold"), tier("s", "silver")], sized("g", "1"), order)) == ["p0"]


def test_an_invalid_node_selector_is_an_error_of_the_run() -> None:
    selector = {"nodeSelector": {"matchExpressions": [{"key": "tier", "operator": "Invalid"}]}}

    decisions = run([tier("g", "gold"), tier("s", "silver")], sized("g", "1"), selector)

    assert [failure.message.startswith("nodeSelector: ") for failure in decisions.failures] == [True]


def test_facts_count_levels_with_nodes() -> None:
    decisions = run([tier("g", "gold"), tier("s", "silver"), make_node("x")], sized("g", "1"))

    assert decisions.facts["p", "CustomPriority"].counts == {"levels": 2, "nodesInLevels": 2}
