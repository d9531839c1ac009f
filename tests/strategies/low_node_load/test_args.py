"""Arguments of LowNodeLoad: defaults, pools, and what keeps the plugin from being built (spec 5.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy
from descheduler.strategies.low_node_load.args import LoadAnomalyCondition, LowNodeLoadArgs, default_args
from descheduler.strategies.low_node_load.pools import construction_problems, pools_of
from tests.builders import Object
from tests.strategies.runs import policy_with

MINUTE = timedelta(minutes=1)


def loaded(**args: object) -> LowNodeLoadArgs:
    """The arguments as the plugin gets them."""
    found = load_policy(policy_with("LowNodeLoad", args=dict(args)), REGISTRY).profiles[0].args["LowNodeLoad"]
    assert isinstance(found, LowNodeLoadArgs)
    return found


def test_everything_has_the_default_of_koordinator() -> None:
    args = loaded()

    assert args.node_fit is True
    assert args.node_metric_expiration_seconds == 180
    assert args.anomaly_condition == LoadAnomalyCondition(MINUTE, 5, 3)
    assert args.detector_cache_timeout == 5 * MINUTE
    assert args.resource_weights == {"cpu": 1, "memory": 1}


@pytest.mark.parametrize(
    ("given", "condition"),
    [
        pytest.param({"consecutiveAbnormalities": 2}, LoadAnomalyCondition(None, 2, 3), id="the other count"),
        pytest.param({"consecutiveNormalities": 2}, LoadAnomalyCondition(None, 5, 2), id="the first count"),
    ],
)
def test_of_a_condition_the_count_that_is_missing_is_filled_in(given: Object, condition: LoadAnomalyCondition) -> None:
    assert loaded(anomalyCondition=given).anomaly_condition == condition


def test_resources_of_thresholds_have_weights_and_those_below_one_are_reset() -> None:
    args = loaded(
        lowThresholds={"pods": 1}, highThresholds={"pods": 2, "x": 3}, resourceWeights={"cpu": 5, "memory": -1, "y": 0}
    )

    assert args.resource_weights == {"cpu": 5, "memory": 1, "pods": 1, "x": 1, "y": 0}


def test_pools_have_what_they_leave_unset_from_the_plugin_but_for_deviation() -> None:
    pool = {"name": "x", "highThresholds": {"cpu": 80}, "resourceWeights": {"cpu": 3}}
    args = loaded(lowThresholds={"cpu": 20}, highThresholds={"cpu": 70}, useDeviationThresholds=True, nodePools=[pool])

    first, second = pools_of(args)

    assert (first.name, first.uses_deviation, first.node.high) == ("__default_node_pool__", True, {"cpu": 70.0})
    assert (second.name, second.uses_deviation, second.node.high) == ("x", False, {"cpu": 80.0})
    assert second.node.low == first.node.low == {"cpu": 20.0}
    assert second.weights == {"cpu": 3}
    assert second.condition == first.condition


BAD: dict[str, tuple[Object, str]] = {
    "a low threshold above the high one": (
        {"lowThresholds": {"cpu": 90}, "highThresholds": {"cpu": 75}},
        "lowThresholds.cpu: 90 is above highThresholds.cpu (75)",
    ),
    "a prod threshold above that of nodes": (
        {"prodHighThresholds": {"cpu": 99}, "highThresholds": {"cpu": 75}},
        "prodHighThresholds.cpu: 99 is above highThresholds.cpu (75)",
    ),
    "a low prod threshold above the high one": (
        {"prodLowThresholds": {"cpu": 40}, "prodHighThresholds": {"cpu": 35}},
        "prodLowThresholds.cpu: 40 is above prodHighThresholds.cpu (35)",
    ),
    "distances the wrong way round": (
        {"useDeviationThresholds": True, "lowThresholds": {"cpu": 20}, "highThresholds": {"cpu": 5}},
        "lowThresholds.cpu: 20 is above highThresholds.cpu (5)",
    ),
    "a threshold below zero": ({"lowThresholds": {"cpu": -1}}, "lowThresholds.cpu: -1 is below 0 (percent)"),
    "no time for metrics": ({"nodeMetricExpirationSeconds": 0}, "nodeMetricExpirationSeconds: 0 is not above 0"),
    "fewer than no nodes": ({"numberOfNodes": -1}, "numberOfNodes: -1 is below 0"),
    "no count of the condition": (
        {"anomalyCondition": {"consecutiveAbnormalities": 0}},
        "anomalyCondition.consecutiveNormalities: is 0 or missing; set it to at least 1",
    ),
    "both lists of namespaces": (
        {"evictableNamespaces": {"include": ["a"], "exclude": ["b"]}},
        "evictableNamespaces: include and exclude are both given; keep one of them",
    ),
    "a selector that is none": (
        {"podSelectors": [{"selector": {"matchExpressions": [{"key": "a", "operator": "Weird"}]}}]},
        "podSelectors[0].selector: ",
    ),
    "a pool": (
        {"highThresholds": {"cpu": 50}, "nodePools": [{"lowThresholds": {"cpu": 60}}]},
        "nodePools[0].lowThresholds.cpu: 60 is above highThresholds.cpu (50)",
    ),
    "a condition of a pool": (
        {"nodePools": [{"anomalyCondition": {"consecutiveAbnormalities": 2}}]},
        "nodePools[0].anomalyCondition.consecutiveNormalities: is 0 or missing; set it to at least 1",
    ),
    "a field that is not there": ({"foo": 1}, "foo: unknown field"),
}


@pytest.mark.parametrize(("args", "message"), [pytest.param(*case, id=name) for name, case in BAD.items()])
def test_arguments_that_make_no_sense_are_refused_with_their_place(args: Object, message: str) -> None:
    with pytest.raises(PolicyError) as error:
        loaded(**args)

    assert f"profiles[0].pluginConfig[1].args.{message}" in str(error.value)


@pytest.mark.parametrize(
    ("facts", "fields"),
    [
        pytest.param(
            {"low_thresholds": {"cpu": 50}, "high_thresholds": {"cpu": 50}}, [], id="a low threshold at the high one"
        ),
        pytest.param(
            {"low_thresholds": {"cpu": 51, "gpu": 9}, "high_thresholds": {"cpu": 50}, "number_of_nodes": -1},
            ["numberOfNodes", "lowThresholds.cpu"],
            id="a low threshold above the high one",
        ),
        pytest.param(
            {"high_thresholds": {"cpu": 0, "memory": -0.5}, "node_metric_expiration_seconds": 1},
            ["highThresholds.memory"],
            id="a threshold below 0",
        ),
        pytest.param(
            {"anomaly_condition": LoadAnomalyCondition(), "node_metric_expiration_seconds": 0},
            ["nodeMetricExpirationSeconds", "anomalyCondition.consecutiveNormalities"],
            id="no time for metrics, and no count",
        ),
    ],
)
def test_problems_are_found_at_their_bounds(facts: dict[str, Any], fields: list[str]) -> None:
    problems = construction_problems(default_args(LowNodeLoadArgs(**facts)))

    assert [".".join(map(str, problem.path)) for problem in problems] == fields
