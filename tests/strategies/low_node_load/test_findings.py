"""What LowNodeLoad says of pods that it does not select, and of runs in which it selects none."""

from __future__ import annotations

import pytest

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.plan.facts import PluginFacts
from tests.builders import NOW, Object
from tests.strategies.asked import Asked
from tests.strategies.low_node_load.worlds import LOAD, NodeWorld, node
from tests.worlds.node_metrics import metrics_by_node

PLUGIN = "LowNodeLoad"
HOT, COLD, WARM = node("hot", {"a": "6"}), node("cold"), node("warm", {"w": "4"})
NEVER = {"anomalyCondition": {"consecutiveAbnormalities": 3}}
PROD = {"prodLowThresholds": {"cpu": 10}, "prodHighThresholds": {"cpu": 20}}


def ask(*worlds: NodeWorld, **args: object) -> Asked:
    """A run over these nodes with thresholds of 30 and 50 percent of cpu, in which one round is enough."""
    return Asked(
        PLUGIN,
        [each for each, _, _ in worlds],
        [pod for _, made, _ in worlds for pod in made],
        args={**LOAD, **args},
        node_metrics=metrics_by_node([metric for _, _, metric in worlds if metric is not None]),
    )


def why_not(name: str, *worlds: NodeWorld, **args: object) -> str:
    """What is said of the pod of this name."""
    asked = ask(*worlds, **args)
    (pod,) = [pod for _, made, _ in worlds for pod in made if pod.name == name]
    return asked.why_not(pod)


def facts(*worlds: NodeWorld, **args: object) -> PluginFacts:
    return ask(*worlds, **args).decisions.facts["p", PLUGIN]


@pytest.mark.parametrize(
    ("name", "worlds", "args", "why"),
    [
        pytest.param("a", [HOT, COLD], {"paused": True}, "the plugin is paused (paused: true)", id="paused"),
        pytest.param(
            "done",
            [node("hot", {"done": "6"}, pods={"done": {"phase": "Failed"}}), COLD],
            {},
            "the pod has finished",
            id="it has finished",
        ),
        pytest.param(
            "a",
            [HOT, node("x", labels={"pool": "x"})],
            {"nodeSelector": {"matchLabels": {"pool": "x"}}},
            "node hot does not match nodeSelector",
            id="a node that is not looked at",
        ),
        pytest.param(
            "w",
            [HOT, COLD, WARM],
            {},
            "node warm is not overutilized: CPU usage at 40% (highThresholds.cpu: 50)",
            id="a node that is not overutilized",
        ),
        pytest.param(
            "a",
            [HOT, COLD],
            NEVER,
            "node hot is overutilized for 1 run; pods are evicted from 4 runs in a row on"
            " (anomalyCondition.consecutiveAbnormalities: 3); earlier runs are unknown here",
            id="a node that is overutilized for the first time",
        ),
        pytest.param(
            "a",
            [HOT, COLD],
            {"numberOfNodes": 1},
            "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
            id="too few nodes",
        ),
        pytest.param(
            "old",
            [node("gone", {"old": "6"}, age=200), COLD],
            {},
            "the NodeMetric of node gone is 200 s old (nodeMetricExpirationSeconds: 180)",
            id="an old measurement",
        ),
        pytest.param(
            "old",
            [node("gone", {"old": "6"}, age=None), COLD],
            {},
            "node gone has no NodeMetric with usage",
            id="a measurement that was never made",
        ),
        pytest.param(
            "old",
            [(*node("gone", {"old": "6"})[:2], None), COLD],
            {},
            "node gone has no NodeMetric with usage",
            id="no measurement",
        ),
        pytest.param(
            "sys",
            [node("hot", {"a": "6", "sys": "100m"}, pods={"sys": {"namespace": "kube-system"}}), COLD],
            {"evictableNamespaces": {"exclude": ["kube-system"]}},
            "namespace kube-system is excluded (evictableNamespaces.exclude)",
            id="an excluded namespace",
        ),
        pytest.param(
            "b",
            [node("hot", {"a": "6", "b": "100m"}, pods={"b": {"priority": 9999}}), COLD],
            {},
            "other pods of node hot are selected",
            id="another pod is enough",
        ),
        pytest.param(
            "b",
            [node("hot", {"a": "2", "b": "6"}, pods={"b": {"priority": 9999}}), node("cold", cpu="3")],
            {"nodeFit": False},
            "the underutilized nodes have no room left: cpu",
            id="no room is left",
        ),
        pytest.param(
            "dear",
            [
                node(
                    "hot",
                    {"a": "1", "be": "3", "dear": "2"},
                    pods={"be": {"priority": 5100}, "dear": {"priority": 5900}},
                ),
                COLD,
            ],
            PROD,
            "other pods of node hot are selected",
            id="a batch pod of a node that is overutilized as a whole",
        ),
    ],
)
def test_why_a_pod_is_not_selected(name: str, worlds: list[NodeWorld], args: Object, why: str) -> None:
    assert why_not(name, *worlds, **args) == why


def prod_world() -> list[NodeWorld]:
    """Node `hot` is overutilized by its prod pods alone, at 25 % of its cpu."""
    hot = node("hot", {"p": "1500m", "q": "1", "be": "100m"}, pods={"be": {"priority": 5500}, "q": {"priority": 9999}})
    return [hot, node("cold"), node("full", system={"cpu": "4"})]


def test_batch_pods_of_a_node_that_prod_pods_overutilize() -> None:
    assert ask(*prod_world(), **PROD).evicted == ["p"]
    assert why_not("be", *prod_world(), **PROD) == (
        "node hot is overutilized by prod pods alone, and the pod is not one of them"
    )


def test_level_of_prod_pods_is_named_by_its_own_threshold() -> None:
    found = facts(*prod_world(), **PROD)

    assert [(near.key, near.value, near.subject) for near in found.nearest] == [
        ("lowThresholds.cpu", 26.0, "hot"),
        ("highThresholds.cpu", 40.0, "full"),
        ("prodLowThresholds.cpu", 0.0, "cold"),
        ("prodHighThresholds.cpu", 25.0, "hot"),
    ]
    assert found.nodes is not None
    assert (found.nodes.under, found.nodes.between, found.nodes.over) == (1, 1, 1)


@pytest.mark.parametrize(
    ("worlds", "args", "why"),
    [
        pytest.param(
            [COLD, WARM],
            {},
            "no node is overutilized: the highest is warm with CPU usage at 40% (highThresholds.cpu: 50)",
            id="no node is overutilized",
        ),
        pytest.param(
            [HOT, COLD],
            NEVER,
            "1 node is overutilized for 1 run; pods are evicted from 4 runs in a row on"
            " (anomalyCondition.consecutiveAbnormalities: 3); earlier runs are unknown here",
            id="not for long enough",
        ),
        pytest.param(
            [HOT, node("cold", unschedulable=True, system={"cpu": "3"})],
            PROD,
            "no node is underutilized",
            id="no node takes pods",
        ),
        pytest.param(
            [HOT, COLD],
            {"numberOfNodes": 1},
            "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
            id="too few nodes",
        ),
        pytest.param(
            [node("hot", {"a": "6"}, pods={"a": {"owners": ["DaemonSet/d"]}}), COLD],
            {"podSelectors": [{"selector": {"matchLabels": {"app": "x"}}}]},
            "1 node is overutilized, but no pod there can be moved",
            id="no pod is looked at",
        ),
        pytest.param(
            [node("a", {"p": "6"}, age=200), node("b", age=200)],
            {},
            "2 nodes are without a current NodeMetric (nodeMetricExpirationSeconds: 180)",
            id="old measurements",
        ),
        pytest.param(
            [HOT, COLD], {"nodeSelector": {"matchLabels": {"pool": "x"}}}, "no node matches nodeSelector", id="no node"
        ),
    ],
)
def test_why_nothing_is_selected(worlds: list[NodeWorld], args: Object, why: str) -> None:
    found = facts(*worlds, **args)

    assert (found.why_nothing, found.pods_selected) == (why, 0)


def test_no_usage_is_known_without_measurements() -> None:
    worlds = [(*HOT[:2], None), (*COLD[:2], None)]

    assert facts(*worlds).why_nothing == (
        "no usage is known: there are no NodeMetrics (slo.koordinator.sh); is koordlet installed?"
    )


@pytest.mark.parametrize(
    ("worlds", "args", "selected", "left_out"),
    [
        pytest.param(
            [node("hot", {"a": "3", "b": "3"}), COLD, WARM],
            {"nodeFit": False},
            1,
            {"highThresholds": 2},
            id="pods that need not leave",
        ),
        pytest.param(
            [HOT, COLD, WARM], NEVER, 0, {"anomalyCondition": 1, "highThresholds": 1}, id="not for long enough"
        ),
        pytest.param(
            [HOT, COLD, WARM], {"numberOfNodes": 2}, 0, {"numberOfNodes": 1, "highThresholds": 1}, id="too few"
        ),
        pytest.param(
            [HOT, COLD, node("gone", {"x": "6", "y": "1"}, age=200)],
            {},
            1,
            {"nodeMetricExpirationSeconds": 2},
            id="old measurements",
        ),
        pytest.param(
            [node("hot", {"a": "6", "s": "1"}, pods={"s": {"namespace": "kube-system"}}), COLD],
            {"evictableNamespaces": {"exclude": ["kube-system"]}},
            1,
            {"evictableNamespaces.exclude": 1},
            id="an excluded namespace",
        ),
    ],
)
def test_pods_that_are_not_selected_are_counted_by_what_keeps_them(
    worlds: list[NodeWorld], args: Object, selected: int, left_out: dict[str, int]
) -> None:
    found = facts(*worlds, **args)

    assert (found.pods_selected, found.left_out) == (selected, left_out)
    assert found.pods_examined == selected + sum(left_out.values())


def test_nodes_without_a_current_measurement_and_abnormal_ones_are_counted() -> None:
    found = facts(HOT, COLD, node("gone", age=200), node("none", age=None))

    assert found.counts == {"nodesWithoutNodeMetric": 2, "abnormalNodes": 1}


def test_figures_of_a_node_in_two_pools_are_those_where_it_is_overutilized() -> None:
    pool = {
        "name": "x",
        "nodeSelector": {"matchLabels": {"pool": "x"}},
        "lowThresholds": {"cpu": 5},
        "highThresholds": {"cpu": 20},
    }
    warm = node("warm", {"w": "4"}, labels={"pool": "x"})
    spare = node("spare", labels={"pool": "x"}, cpu="4", system={"cpu": "400m"})

    assert why_not("w", warm, spare, node("cold", system={"cpu": "1"}), nodePools=[pool]) == (
        "node warm is overutilized, but no node is underutilized"
    )


def test_facts_are_those_of_the_nodes_as_they_were_found() -> None:
    """Pods that the plugin evicts are examined, and do not lower the level of their node."""
    found = facts(node("hot", {"a": "3", "b": "3"}), COLD, WARM, nodeFit=False)

    assert found.pods_examined == 3
    assert [(near.key, near.value, near.subject) for near in found.nearest] == [
        ("lowThresholds.cpu", 40.0, "warm"),
        ("highThresholds.cpu", 60.0, "hot"),
    ]
    assert why_not("b", HOT, node("cold", {"b": "1"})) == (
        "node cold is not overutilized: CPU usage at 10% (highThresholds.cpu: 50)"
    )


def test_node_of_which_the_system_was_not_measured_is_left_alone() -> None:
    hot, pods, _ = HOT
    unmeasured = NodeMetric("hot", NOW, None, (), {"cpu": 9 * 10**9})

    assert why_not("a", (hot, pods, unmeasured), COLD) == "node hot has no NodeMetric with usage"


def test_pool_that_came_furthest_says_why_nothing_is_selected() -> None:
    """Node cold is too little for numberOfNodes in the first pool; in the second two nodes take pods."""
    pool = {
        "name": "x",
        "nodeSelector": {"matchLabels": {"pool": "x"}},
        "lowThresholds": {"cpu": 30},
        "highThresholds": {"cpu": 50},
    }
    labels = {"pool": "x"}
    of_pool = [node("hot-x", {"b": "6"}, labels=labels), node("c1", labels=labels), node("c2", labels=labels)]
    first = {"nodeSelector": {"matchExpressions": [{"key": "pool", "operator": "DoesNotExist"}]}, "numberOfNodes": 1}
    nobody = {"podSelectors": [{"selector": {"matchLabels": {"app": "x"}}}]}

    found = facts(HOT, COLD, *of_pool, nodePools=[pool], **first, **nobody)

    assert found.why_nothing == "1 node is overutilized, but no pod there can be moved"
