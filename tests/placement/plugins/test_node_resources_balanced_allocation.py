"""Balance between resources, as a state until 1.35 and as a change since 1.36."""

from __future__ import annotations

import math
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
    NodeResourcesBalancedAllocationArgs,
)
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, scores

OLD, NEW = KubeVersion(1, 35), KubeVersion(1, 36)
DEV = "example.com/dev"


def _score(
    cpu: tuple[str, str, str],
    memory: tuple[str, str, str],
    version: KubeVersion,
) -> int:
    """The score of one node; (taken, asked, allocatable) of each resource."""
    used = make_pod("old", cpu=cpu[0], memory=memory[0])
    cluster = make_cluster([make_node("a", cpu=cpu[2], memory=memory[2])], [used], version=version)
    answer = scores(NodeResourcesBalancedAllocation, cluster, make_pod("new", node="", cpu=cpu[1], memory=memory[1]))
    assert answer is not None
    return answer[1][0]


@pytest.mark.parametrize(
    ("cpu", "memory", "old", "new"),
    [
        pytest.param(("4", "600m", "8"), ("8Gi", "1Gi", "16Gi"), 99, 74, id="a little out of balance"),
        pytest.param(("2", "1", "4"), ("2Gi", "0", "8Gi"), 75, 69, id="further out of balance"),
        pytest.param(("2", "1", "4"), ("6Gi", "0", "8Gi"), 100, 81, id="back into balance"),
        pytest.param(("8", "1", "4"), ("8Gi", "1Gi", "8Gi"), 100, 75, id="beyond full is full"),
        pytest.param(("1", "1", "4"), ("1Gi", "1Gi", "0"), 100, 75, id="a single resource is always in balance"),
    ],
)
def test_balance_of_two_resources(cpu: tuple[str, str, str], memory: tuple[str, str, str], old: int, new: int) -> None:
    assert (_score(cpu, memory, OLD), _score(cpu, memory, NEW)) == (old, new)


def test_a_scheduler_of_another_version_than_the_cluster_keeps_its_own_way() -> None:
    cluster = make_cluster([make_node("a", cpu="8", memory="16Gi")], version=NEW)
    profile = replace(make_profile(), made_of=OLD)

    answer = scores(NodeResourcesBalancedAllocation, cluster, make_pod("new", node="", cpu="4"), profile=profile)

    assert answer is not None
    assert answer[1] == [75]


def _three(pod: Pod, *, version: KubeVersion = OLD) -> list[int] | None:
    args = NodeResourcesBalancedAllocationArgs(("cpu", "memory", DEV))
    nodes = [
        make_node("a", cpu="10", memory="10", allocatable={DEV: "10"}),
        make_node("b", cpu="10", memory="10"),
        make_node("c", cpu="10", memory="0", allocatable={DEV: "10"}),
    ]
    profile = make_profile(args)
    answer = scores(NodeResourcesBalancedAllocation, make_cluster(nodes, version=version), pod, profile=profile)
    return None if answer is None else answer[1]


def test_more_than_two_resources_are_balanced_by_their_deviation_each_node_by_what_it_offers() -> None:
    pod = make_pod("new", node="", cpu="2", memory="8", requests={DEV: "5"})

    given = _three(pod)

    spread = math.sqrt((0.3**2 + 0.3**2) / 3)
    assert given == [int((1 - spread) * 100), 70, 85]


def test_extended_resource_that_the_pod_does_not_ask_for_is_left_out() -> None:
    assert _three(make_pod("new", node="", cpu="2", memory="8")) == [70, 70, 100]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_pod_that_asks_for_none_of_the_resources_is_not_scored(version: KubeVersion) -> None:
    assert _three(make_pod("new", node="", requests={"ephemeral-storage": "1"}), version=version) is None


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any))
def test_deviation_is_that_of_the_population(asked: list[int]) -> None:
    args = NodeResourcesBalancedAllocationArgs(("cpu", "memory", DEV))
    node = make_node("a", cpu="1", memory="1000", allocatable={DEV: "1000"})
    requests = {"cpu": f"{asked[0]}m", "memory": str(asked[1]), DEV: str(asked[2])}
    cluster = make_cluster([node], version=OLD)

    answer = scores(
        NodeResourcesBalancedAllocation,
        cluster,
        make_pod("new", node="", requests=requests),
        profile=make_profile(args),
    )

    counted = asked if asked[2] else asked[:2]
    exact = (1 - pstdev(amount / 1000 for amount in counted)) * 100
    assert answer is None or abs(answer[1][0] - exact) <= 1
    assert (answer is None) == (not any(counted))
