"""What earlier rounds of a run have evicted is charged by every strategy that counts, before it asks for anything."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.strategies.runs import evicted, moved, run_plugin

NODES = [make_node(name, labels={"zone": name}) for name in ("n1", "n2", "n3")]
OTHER = "PodLifeTime"


def pods_on(node: str, number: int, **facts: object) -> list[Pod]:
    """Pods a, b and so on of one core each."""
    return [make_pod(f"{node}-{letter}", node=node, **{"cpu": "1", **facts}) for letter in "abcdefgh"[:number]]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param([], ["n1-c", "n1-d", "n1-e"], id="two are the average"),
        pytest.param(["n1-a", "n1-c"], ["n1-e"], id="those that left are the first above it"),
        pytest.param(["n1-a", "n1-b", "n1-c", "n1-d"], [], id="nobody is left above it"),
    ],
)
def test_duplicates_that_left_are_above_the_average(gone: list[str], expected: list[str]) -> None:
    pods = pods_on("n1", 5)

    decisions = run_plugin("RemoveDuplicates", NODES, pods, prior_moves=moved(pods, *gone, plugin=OTHER))

    assert sorted(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param([], ["n1-c", "n1-d"], id="two are too many"),
        pytest.param(["n1-a"], ["n1-d"], id="one that left is one of them"),
        pytest.param(["n1-a", "n1-b", "n1-c"], [], id="enough have left"),
    ],
)
def test_pods_that_left_a_full_domain_are_the_first_to_leave_it(gone: list[str], expected: list[str]) -> None:
    selector = {"matchLabels": {"app": "web"}}
    stated = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    pods = [
        pod
        for node, number in (("n1", 4), ("n2", 1), ("n3", 1))
        for pod in pods_on(node, number, labels={"app": "web"}, spread=[stated])
    ]

    decisions = run_plugin(
        "RemovePodsViolatingTopologySpreadConstraint", NODES, pods, prior_moves=moved(pods, *gone, plugin=OTHER)
    )

    assert sorted(evicted(decisions)) == expected


def test_nobody_keeps_away_from_a_pod_that_left() -> None:
    pods = pods_on("n1", 2, labels={"app": "web"}, affinity=required_anti_affinity({"app": "web"}))

    decisions = run_plugin(
        "RemovePodsViolatingInterPodAntiAffinity", NODES, pods, prior_moves=moved(pods, "n1-a", plugin=OTHER)
    )

    assert evicted(decisions) == []


def test_owner_that_has_lost_pods_has_too_few() -> None:
    pods = pods_on("n1", 3)

    decisions = run_plugin(
        OTHER,
        NODES,
        pods,
        args={"maxPodLifeTimeSeconds": 60},
        evictor={"minReplicas": 3},
        prior_moves=moved(pods, "n1-b", plugin=OTHER),
    )

    assert evicted(decisions) == ["n1-b"]
