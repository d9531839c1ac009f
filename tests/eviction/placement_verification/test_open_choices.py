"""Runs under a scheduler of which nobody knows which of the nodes that fit it chooses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descheduler import evaluate
from descheduler.evaluation import Evaluation
from tests.builders import NOW, Object, node_object, pod_object
from tests.eviction.checks.test_other_gangs import policy_of

RACK = "scheduler plugin Rack is not modelled"
SCORING: Object = {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Rack"}]}}}]}
DRAINED = node_object("drained", taints=["old:NoSchedule"])


def run(tmp_path: Path, configuration: Object, *objects: Object) -> Evaluation:
    """What becomes of pods on a tainted node under this KubeSchedulerConfiguration."""
    file = tmp_path / "scheduler.json"
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **configuration}
    file.write_text(json.dumps(document))
    policy = policy_of(onUnknown="refuse", schedulerConfigFile=str(file))
    return evaluate(policy, [DRAINED, *objects], now=NOW)


def leaving(name: str, **facts: Any) -> Object:
    return pod_object(name, **{"node": "drained", "cpu": "3", **facts})


def test_plan_names_all_nodes_and_the_plugin(tmp_path: Path) -> None:
    result = run(tmp_path, SCORING, node_object("a", cpu="4"), node_object("b", cpu="8"), leaving("web"))

    (move,) = result.plan.moves
    assert move.landing is not None
    assert (move.landing.verdict, sorted(move.landing.nodes), move.landing.margin) == ("lands", ["a", "b"], None)
    assert (move.landing.node_cause, move.landing.cause) == (RACK, "")
    assert f"1 replacement pod: which of the nodes that fit is chosen is unknown ({RACK})" in result.plan.warnings


def test_pod_whose_node_an_evicted_one_may_get_is_not_evicted(tmp_path: Path) -> None:
    nodes = [node_object("a", cpu="8"), node_object("b", cpu="4", labels={"disk": "ssd"})]
    pods = [leaving("any", cpu="4"), leaving("picky", node_selector={"disk": "ssd"})]

    result = run(tmp_path, SCORING, *nodes, *pods)

    assert [each.name for each in result.evictions] == ["any"]
    assert [(each.name, each.code, each.message) for each in result.refusals] == [
        (
            "picky",
            "UnknownLanding",
            f"likely scheduled onto b; {RACK}, and other pods may get its last node (onUnknown: refuse)",
        )
    ]


@pytest.mark.parametrize(
    ("configuration", "num_evicted"),
    [
        pytest.param({"profiles": [{}]}, 6, id="kube-scheduler as it comes"),
        pytest.param(SCORING, 3, id="a plugin that scores"),
    ],
)
def test_more_pods_than_nodes_go_only_where_the_choice_is_known_or_makes_no_difference(
    tmp_path: Path, configuration: Object, num_evicted: int
) -> None:
    """No node has room for all of them."""
    nodes = [node_object(name, cpu="9") for name in "ab"]

    result = run(tmp_path, configuration, *nodes, *(leaving(f"p{number}") for number in range(6)))

    assert (len(result.evictions), {each.code for each in result.refusals}) == (
        num_evicted,
        {"UnknownLanding"} if num_evicted < 6 else set(),
    )
