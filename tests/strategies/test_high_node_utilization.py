"""HighNodeUtilization: which nearly empty nodes are emptied, and how far."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object
from tests.strategies.node_utilization.worlds import pods_on, small_node
from tests.strategies.runs import evicted, refused, run_plugin

FOO = "example.com/foo"


def run(nodes: Sequence[Node], pods: Sequence[Pod], args: Object | None = None) -> Decisions:
    """A run with nodeFit, and nodes underused up to 30 % of cpu and pods unless said."""
    defaults: Object = {"thresholds": {"cpu": 30, "pods": 30}}
    return run_plugin("HighNodeUtilization", nodes, pods, args={**defaults, **(args or {})}, evictor={"nodeFit": True})


def test_underused_nodes_are_emptied_cordoned_ones_too() -> None:
    nodes = [small_node("n1"), small_node("n2"), small_node("n3", unschedulable=True)]
    critical = pods_on("n1", 1, prefix="critical", priority=2_000_000_000)
    pods = [*pods_on("n1", 1), *critical, *pods_on("n2", 4), *pods_on("n3", 1)]

    decisions = run(nodes, pods)

    assert sorted(evicted(decisions)) == ["p-n1-0", "p-n3-0"]
    assert refused(decisions) == {"critical-n1-0": "SystemCritical"}


def test_it_ends_when_the_room_on_the_other_nodes_is_used_up() -> None:
    nodes = [small_node("n1", cpu="2"), small_node("n2", cpu="2"), small_node("n3", cpu="2", unschedulable=True)]
    pods = [*pods_on("n1", 1), *pods_on("n2", 4), *pods_on("n3", 1)]

    decisions = run(nodes, pods)

    assert len(evicted(decisions)) == 1


@pytest.mark.parametrize(
    ("nodes", "counts"),
    [
        pytest.param(
            [small_node("n1"), small_node("n2"), small_node("n3", unschedulable=True)],
            (1, 1, 4),
            id="the only other node is cordoned",
        ),
        pytest.param([small_node("n1"), small_node("n2"), small_node("n3")], (3, 3, 3), id="no node is underused"),
        pytest.param([small_node("n1"), small_node("n2"), small_node("n3")], (1, 1, 1), id="all nodes are underused"),
    ],
)
def test_nothing_moves_without_source_or_destination(nodes: Sequence[Node], counts: Sequence[int]) -> None:
    pods = [pod for node, count in zip(nodes, counts, strict=True) for pod in pods_on(node.name, count)]

    decisions = run(nodes, pods, {"thresholds": {"cpu": 20, "pods": 20}})

    assert evicted(decisions) == []


def test_number_of_nodes_must_be_exceeded() -> None:
    nodes = [small_node("n1"), small_node("n2")]
    pods = [*pods_on("n1", 1), *pods_on("n2", 4)]

    decisions = run(nodes, pods, {"numberOfNodes": 1})

    assert evicted(decisions) == []


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({}, [], id="pods that do not ask for the resource stay"),
        pytest.param({FOO: "0"}, ["p-n1-0"], id="asking for none of it is asking"),
    ],
)
def test_mode_for_thresholding_resources_only(requests: Object, expected: list[str]) -> None:
    nodes = [small_node(name, allocatable={FOO: "8"}) for name in ("n1", "n2")]
    pods = [*pods_on("n1", 1, requests=requests), *pods_on("n2", 4, requests={FOO: "1"})]
    args: Object = {"thresholds": {FOO: 40}, "evictionModes": ["OnlyThresholdingResources"]}

    decisions = run(nodes, pods, args)

    assert evicted(decisions) == expected


def test_emptiest_node_by_memory_goes_first() -> None:
    nodes = [small_node(name) for name in ("n1", "n2", "n3")]
    pods = [*pods_on("n1", 1, memory="20"), *pods_on("n2", 1, memory="10"), *pods_on("n3", 4)]

    decisions = run(nodes, pods)

    assert evicted(decisions) == ["p-n2-0", "p-n1-0"]


def test_excluded_namespace_stays() -> None:
    nodes = [small_node("n1"), small_node("n2")]
    pods = [*pods_on("n1", 1), *pods_on("n2", 4)]

    decisions = run(nodes, pods, {"evictableNamespaces": {"exclude": ["default"]}})

    assert refused(decisions) == {"p-n1-0": "Namespace"}


def test_reason_names_the_usage_and_the_thresholds() -> None:
    decisions = run([small_node("n1"), small_node("n2")], [*pods_on("n1", 1), *pods_on("n2", 4)])

    (booked,) = decisions.moves
    assert booked.reason == (
        "CPU requests are at 10% of allocatable (thresholds.cpu: 30) and "
        "number of pods is at 10% of allocatable (thresholds.pods: 30)"
    )
