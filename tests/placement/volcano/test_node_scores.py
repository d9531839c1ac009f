"""Plugins binpack and nodeorder (volcano.md §10.2, §10.3): the scores of nodes by their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.placement.volcano.session import Session
from tests.builders import preferred_node_affinity
from tests.placement.clusters import ZONE
from tests.placement.volcano.worlds import Object, group, node, plugin, pods, session, tasks_of

GPU = "nvidia.com/gpu"


def made(name: str, nodes: list[Object], new: list[Object], *objects: Any, **arguments: Any) -> Session:
    """A session with the plugin alone."""
    return session(nodes, group("used"), group("new"), new, *objects, tiers=[[plugin(name, arguments=arguments)]])


def scores(of: Session) -> list[float]:
    """What each node is given for the pod `new-0`."""
    found = of.tiers.scores(tasks_of(of)["new-0"], of.nodes.is_there)
    return [round(score, 4) for score in found.tolist()]


def packed(arguments: Mapping[str, Any], *, cpu: str = "1") -> list[float]:
    """The score of binpack on a node of 10 CPU and 100 GiB, of which 4 and 10 are used, for this pod."""
    named = {key.replace("_", "."): value for key, value in arguments.items()}
    used = pods("used", 1, on="a", cpu="4", memory="10Gi")
    return scores(made("binpack", [node("a")], pods("new", 1, cpu=cpu, memory="10Gi"), used, **named))


@pytest.mark.parametrize(
    ("arguments", "score"),
    [
        pytest.param({}, [(50 + 20) / 2], id="cpu and memory alike"),
        pytest.param({"binpack_weight": 3}, [3 * 35], id="a weight of the plugin"),
        pytest.param({"binpack_cpu": 3}, [(3 * 50 + 20) / 4], id="a weight of cpu"),
        pytest.param({"binpack_memory": 0}, [50], id="memory does not count"),
        pytest.param({"binpack_cpu": -4}, [35], id="a weight below 0 is 1"),
        pytest.param({"binpack_cpu": 0, "binpack_memory": 0}, [0], id="nothing counts"),
        pytest.param({"binpack_weight": 0}, [0], id="no weight, no score"),
    ],
)
def test_fuller_nodes_score_higher_by_weight(arguments: Mapping[str, Any], score: list[float]) -> None:
    assert packed(arguments) == score


@pytest.mark.parametrize(
    ("cpu", "score"),
    [
        pytest.param("6", [(100 + 20) / 2], id="it is filled"),
        pytest.param("6001m", [0], id="it would be overfilled"),
        pytest.param("", [20], id="cpu is not asked for"),
    ],
)
def test_node_that_would_be_overfilled_gets_nothing(cpu: str, score: list[float]) -> None:
    assert packed({}, cpu=cpu) == score


def test_overfilled_resource_that_does_not_count_costs_nothing() -> None:
    assert packed({"binpack_cpu": 0}, cpu="9") == [20]


@pytest.mark.parametrize(
    ("arguments", "score"),
    [
        pytest.param({}, [35], id="not named"),
        pytest.param(
            {"binpack.resources": GPU, f"binpack.resources.{GPU}": 2}, [(50 + 20 + 2 * 50) / 4], id="a weight"
        ),
        pytest.param({"binpack.resources": f"x, {GPU}"}, [(50 + 20 + 50) / 3], id="weight 1 by default"),
    ],
)
def test_other_resources_count_where_they_are_named(arguments: Mapping[str, Any], score: list[float]) -> None:
    used = pods("used", 1, on="a", cpu="4", memory="10Gi")
    new = pods("new", 1, memory="10Gi")
    new[0]["spec"]["containers"][0]["resources"]["requests"] |= {GPU: "2"}

    assert scores(made("binpack", [node("a", **{GPU: "4"})], new, used, **arguments)) == score


def test_node_without_the_resource_gets_nothing_for_it() -> None:
    new = pods("new", 1, cpu="", memory="")
    new[0]["spec"]["containers"][0]["resources"]["requests"] = {GPU: "1"}
    arguments = {"binpack.resources": GPU}

    assert scores(made("binpack", [node("a", **{GPU: "2"}), node("b")], new, **arguments)) == [50, 0]


NOTHING = {
    f"{name}.weight": 0
    for name in ("leastrequested", "balancedresource", "nodeaffinity", "imagelocality", "podaffinity")
} | {"tainttoleration.weight": 0, "podtopologyspread.weight": 0}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({}, [0, 0], id="all switched off"),
        pytest.param({"leastrequested.weight": 1}, [70, 90], id="emptier nodes"),
        pytest.param({"leastrequested.weight": 2}, [140, 180], id="by weight"),
        pytest.param({"mostrequested.weight": 1}, [30, 10], id="fuller nodes"),
        pytest.param({"nodeaffinity.weight": 2}, [0, 10], id="preferred nodes, as stated"),
    ],
)
def test_scores_of_kube_scheduler_count_by_their_weights(arguments: Mapping[str, Any], expected: list[float]) -> None:
    """The pod asks for 1 CPU and 10 GiB; a holds 2 CPU and 20 GiB, and b is in the preferred zone."""
    nodes: list[Any] = [node("a"), node("b")]
    nodes[1]["metadata"]["labels"] = {ZONE: "east"}
    new = pods("new", 1, memory="10Gi", spec={"affinity": preferred_node_affinity((ZONE, "east", 5))})
    used = pods("used", 1, on="a", cpu="2", memory="20Gi")

    assert scores(made("nodeorder", nodes, new, used, **{**NOTHING, **arguments})) == expected
