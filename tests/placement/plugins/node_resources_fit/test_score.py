"""How full nodes would be, under each strategy."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.plugins.helper.scores import ShapePoint
from descheduler.placement.plugins.node_resources_fit.score import (
    NodeResourcesFitArgs,
    NodeResourcesFitScore,
    ResourceWeight,
)
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, scores

DEV = "example.com/dev"
CPU_ONLY = (ResourceWeight("cpu"),)


def _scores(pod: Pod, *nodes: Node, pods: tuple[Pod, ...] = (), args: NodeResourcesFitArgs | None = None) -> list[int]:
    profile = make_profile(args or NodeResourcesFitArgs())
    answer = scores(NodeResourcesFitScore, make_cluster(nodes, pods), pod, profile=profile)
    assert answer is not None
    assert answer[0] is None
    return answer[1]


def _candidate(**facts: Any) -> Pod:
    return make_pod("new", node="", **facts)


def test_least_allocated_is_the_mean_of_the_free_shares_each_cut() -> None:
    used = make_pod("old", cpu="4", memory="8Gi")

    given = _scores(_candidate(cpu="600m", memory="1Gi"), make_node("a", cpu="8", memory="16Gi"), pods=(used,))

    # 42 % of cpu and 43 % of memory stay free.
    assert given == [42]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(NodeResourcesFitArgs(), [50, 0], id="LeastAllocated gives nothing to a node that would overflow"),
        pytest.param(NodeResourcesFitArgs(strategy="MostAllocated"), [50, 100], id="MostAllocated takes it for full"),
        pytest.param(
            NodeResourcesFitArgs(resources=(ResourceWeight("cpu", 3), ResourceWeight("memory", 1))),
            [37, 0],
            id="weights count",
        ),
    ],
)
def test_strategies_rate_shares(args: NodeResourcesFitArgs, expected: list[int]) -> None:
    pod = _candidate(cpu="3", memory="2Gi")

    given = _scores(pod, make_node("a", cpu="4", memory="8Gi"), make_node("b", cpu="2", memory="1Gi"), args=args)

    assert given == expected


def test_containers_without_requests_are_charged_with_a_little_and_an_explicit_zero_is_not() -> None:
    node = make_node("a", cpu="1", memory="1000Mi")

    assert _scores(_candidate(images=("i", "i")), node) == [(80 + 60) // 2]
    assert _scores(_candidate(requests={"cpu": "0", "memory": "0"}), node) == [100]


def test_requests_of_the_incoming_pod_as_a_whole_do_not_count_but_its_overhead_does() -> None:
    spec = {"resources": {"requests": {"cpu": "800m", "memory": "900Mi"}}, "overhead": {"cpu": "100m"}}

    given = _scores(_candidate(spec=spec), make_node("a", cpu="1", memory="1000Mi"))

    assert given == [80]


def test_extended_resource_counts_only_for_pods_that_ask_for_it_and_nodes_that_have_it() -> None:
    args = NodeResourcesFitArgs(resources=(ResourceWeight("cpu"), ResourceWeight(DEV, 3)))
    nodes = make_node("a", cpu="1", allocatable={DEV: "4"}), make_node("b", cpu="1")

    assert _scores(_candidate(cpu="500m"), *nodes, args=args) == [50, 50]
    assert _scores(_candidate(cpu="500m", requests={DEV: "1"}), *nodes, args=args) == [(50 + 3 * 75) // 4, 50]


def test_ephemeral_storage_counts_for_every_pod() -> None:
    args = NodeResourcesFitArgs(resources=(ResourceWeight("ephemeral-storage"),))
    used = make_pod("old", requests={"ephemeral-storage": "1Gi"})

    given = _scores(_candidate(), make_node("a", allocatable={"ephemeral-storage": "4Gi"}), pods=(used,), args=args)

    assert given == [75]


def test_resource_that_is_no_room_is_not_scored() -> None:
    args = NodeResourcesFitArgs(resources=(ResourceWeight("pods"), ResourceWeight(DEV)))

    assert _scores(_candidate(), make_node("a"), args=args) == [0]


@pytest.mark.parametrize(
    ("shape", "milli", "expected"),
    [
        pytest.param([(0, 0), (100, 10)], 570, 57, id="a rising line"),
        pytest.param([(0, 10), (50, 2), (100, 0)], 750, 10, id="a falling line with a bend"),
        pytest.param([(0, 10), (100, 0)], 0, 100, id="the first point"),
        pytest.param([(40, 3), (60, 7)], 100, 30, id="left of the first point it is flat"),
        pytest.param([(40, 3), (60, 7)], 900, 70, id="right of the last point too"),
        pytest.param([(0, 0), (100, 10)], 5000, 100, id="an overflowing node counts as full"),
        pytest.param([(0, 10), (7, 0)], 20, 72, id="steps are cut toward zero when they fall"),
    ],
)
def test_ratio_follows_the_shape(shape: list[tuple[int, int]], milli: int, expected: int) -> None:
    points = tuple(ShapePoint(*point) for point in shape)
    args = NodeResourcesFitArgs(strategy="RequestedToCapacityRatio", resources=CPU_ONLY, shape=points)

    assert _scores(_candidate(cpu=f"{milli}m"), make_node("a", cpu="1"), args=args) == [expected]


def test_ratio_leaves_zeros_out_of_the_mean_and_rounds_half_up() -> None:
    args = NodeResourcesFitArgs(
        strategy="RequestedToCapacityRatio",
        resources=(ResourceWeight("cpu"), ResourceWeight("memory"), ResourceWeight("ephemeral-storage")),
        shape=(ShapePoint(0, 0), ShapePoint(100, 10)),
    )
    node = make_node("a", cpu="1", memory="1000", allocatable={"ephemeral-storage": "1000"})

    given = _scores(_candidate(requests={"cpu": "500m", "memory": "510", "ephemeral-storage": "0"}), node, args=args)

    # 50 and 51; without leaving out it would be 34, and cut it would be 50.
    assert given == [51]


def test_ratio_of_nothing_is_zero() -> None:
    args = NodeResourcesFitArgs(
        strategy="RequestedToCapacityRatio", resources=CPU_ONLY, shape=(ShapePoint(0, 0), ShapePoint(100, 10))
    )

    assert _scores(_candidate(requests={"cpu": "0"}), make_node("a"), args=args) == [0]
