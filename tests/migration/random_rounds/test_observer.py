"""The observer sees every broken promise, and none where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.migration.random_rounds.observer import Deed, faults_of
from tests.migration.random_rounds.policies import PolicyFacts, ProfileFacts
from tests.migration.random_rounds.worlds import NodeFacts, PodFacts, World

PROFILE = ProfileFacts(
    name="p",
    plugins=(),
    underused=20,
    overused=50,
    node_limit=None,
    min_replicas=0,
    max_per_node=0,
    max_per_namespace=0,
    max_globally=0,
    max_per_workload=9,
    max_unavailable=9,
    burst=0,
    verifies_placement=False,
)
NODES = tuple(NodeFacts(f"n{number}", f"z{number}", has_ssd=True, is_tainted=False) for number in range(3))
PODS = tuple(PodFacts("a", f"p{number}", "n0", "web", cpu=1000, age=1) for number in range(4))
WORLD = World(NODES, PODS)


def policy(*, is_upstream: bool = True, profile: ProfileFacts = PROFILE, **limits: int) -> PolicyFacts:
    """A policy of one profile."""
    given: dict[str, Any] = {"total": None, "per_node": None, "per_namespace": None, **limits}
    return PolicyFacts(is_upstream=is_upstream, profiles=(profile,), **given)


def took(*numbers: int, plugin: str = "PodLifeTime", in_one_round: bool = False) -> list[Deed]:
    """Evictions of these pods, each in a round of its own unless said."""
    return [
        Deed(PODS[number], 1 if in_one_round else num_round, "p", plugin)
        for num_round, number in enumerate(numbers, start=1)
    ]


def kinds(facts: PolicyFacts, deeds: list[Deed], world: World = WORLD) -> list[str]:
    """What was broken, without who did it."""
    return [fault.rpartition(": ")[2] for fault in faults_of(world, facts, deeds)]


@pytest.mark.parametrize(
    ("facts", "deeds", "expected"),
    [
        pytest.param(policy(), took(0, 1, 2), [], id="no limit, no fault"),
        pytest.param(policy(), took(0, 0), ["pod evicted twice"], id="twice"),
        pytest.param(policy(total=1), took(0, 1), ["limit total of the policy exceeded"], id="total"),
        pytest.param(policy(per_node=1), took(0, 1), ["limit node of the policy exceeded"], id="node"),
        pytest.param(policy(per_namespace=1), took(0, 1), ["limit namespace of the policy exceeded"], id="namespace"),
        pytest.param(
            policy(profile=replace(PROFILE, node_limit=1)),
            took(0, 1, plugin="LowNodeUtilization"),
            ["limit node of LowNodeUtilization exceeded"],
            id="the limit of LowNodeUtilization",
        ),
        pytest.param(
            policy(), took(0, 1, plugin="LowNodeUtilization"), [], id="down to the target, which ends the node"
        ),
        pytest.param(
            policy(is_upstream=False, profile=replace(PROFILE, verifies_placement=True)),
            took(0, 1, 2, plugin="LowNodeUtilization"),
            [],
            id="below the target where replacements may have come that nobody here knows of",
        ),
        pytest.param(
            policy(),
            took(0, 1, 2, plugin="LowNodeUtilization"),
            ["node drained below its target"],
            id="below the target",
        ),
        pytest.param(
            policy(profile=replace(PROFILE, min_replicas=4)),
            took(0, 1),
            ["minReplicas of the evictor broken"],
            id="too few replicas",
        ),
        pytest.param(
            policy(is_upstream=False, profile=replace(PROFILE, max_per_node=1)),
            took(0, 1),
            ["limit node of the migration controller exceeded"],
            id="pods of a node on the move",
        ),
        pytest.param(
            policy(is_upstream=False, profile=replace(PROFILE, burst=1)),
            took(0, 1),
            ["limit burst of the migration controller exceeded"],
            id="evictions of a workload",
        ),
        pytest.param(
            policy(),
            took(0, 1, 2, plugin="RemoveDuplicates"),
            ["node taken below its share of replicas"],
            id="fewer replicas than the average",
        ),
        pytest.param(
            policy(),
            took(0, 1, 2, plugin="RemovePodsViolatingTopologySpreadConstraint"),
            [],
            id="a domain down to the mean",
        ),
        pytest.param(
            policy(),
            took(0, 1, 2, 3, plugin="RemovePodsViolatingTopologySpreadConstraint"),
            ["domain taken below the mean"],
            id="a domain below the mean",
        ),
        pytest.param(
            policy(),
            took(0, 1, 2, 3, plugin="RemovePodsViolatingInterPodAntiAffinity"),
            ["nobody left to keep away from"],
            id="no conflict",
        ),
    ],
)
def test_every_broken_promise_is_seen(facts: PolicyFacts, deeds: list[Deed], expected: list[str]) -> None:
    assert kinds(facts, deeds) == expected


def test_room_of_the_destinations_is_counted() -> None:
    world = World(NODES[:2], PODS)

    faults = kinds(
        policy(profile=replace(PROFILE, overused=25)), took(0, 1, plugin="LowNodeUtilization", in_one_round=True), world
    )

    assert faults == ["destinations had no room left"]
