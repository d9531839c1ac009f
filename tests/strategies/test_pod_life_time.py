"""PodLifeTime: age, states, conditions, owners and exit codes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.model.verdict import Reason
from tests.builders import ago, container_status, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node("a"), make_node("b")]
WAITING = [container_status(waiting="ImagePullBackOff")]
KILLED = [container_status(terminated="OOMKilled", exit_code=137)]


def is_evicted(args: dict[str, Any], **facts: Any) -> bool:
    """Whether the only pod of the cluster goes."""
    return evicted(run_plugin("PodLifeTime", NODES, [make_pod("p", **facts)], args=args)) == ["p"]


@pytest.mark.parametrize(
    ("args", "facts", "expected"),
    [
        pytest.param({"maxPodLifeTimeSeconds": 600}, {"age": 601}, True, id="older than allowed"),
        pytest.param({"maxPodLifeTimeSeconds": 600}, {"age": 600}, False, id="exactly as old as allowed"),
        pytest.param({"maxPodLifeTimeSeconds": 600}, {"age": 600.9}, False, id="part of a second does not count"),
        pytest.param({"maxPodLifeTimeSeconds": 0}, {"age": 0}, False, id="0 means a second at least"),
        pytest.param({"maxPodLifeTimeSeconds": 0}, {"age": -5}, False, id="a pod from the future is not old"),
        pytest.param({"maxPodLifeTimeSeconds": 600}, {"age": None}, True, id="a pod without creation time is very old"),
        pytest.param({"states": ["Failed"]}, {"phase": "Failed"}, True, id="the phase is a state"),
        pytest.param({"states": ["Shutdown"]}, {"reason": "Shutdown"}, True, id="the reason of the status is one"),
        pytest.param(
            {"states": ["ImagePullBackOff"]}, {"containers": WAITING}, True, id="why a container waits is one"
        ),
        pytest.param({"states": ["OOMKilled"]}, {"containers": KILLED}, True, id="why it terminated is one"),
        pytest.param(
            {"states": ["OOMKilled"]}, {"init_containers": KILLED}, False, id="init containers on request only"
        ),
        pytest.param(
            {"states": ["OOMKilled"], "includingInitContainers": True},
            {"init_containers": KILLED},
            True,
            id="requested",
        ),
        pytest.param(
            {"states": ["OOMKilled"], "includingEphemeralContainers": True},
            {"ephemeral_containers": KILLED},
            True,
            id="ephemeral containers on request, too",
        ),
        pytest.param({"exitCodes": [137]}, {"containers": KILLED}, True, id="an exit code"),
        pytest.param({"exitCodes": [1]}, {"containers": KILLED}, False, id="another exit code"),
        pytest.param({"exitCodes": [0]}, {}, False, id="a running container has no exit code"),
        pytest.param(
            {"exitCodes": [137], "includingEphemeralContainers": True},
            {"ephemeral_containers": KILLED},
            False,
            id="exit codes of ephemeral containers never count",
        ),
        pytest.param({"states": ["Running"], "maxPodLifeTimeSeconds": 9999}, {}, False, id="all categories must agree"),
        pytest.param(
            {"states": ["Running"], "ownerKinds": {"include": ["Job"]}}, {}, False, id="an owner kind that is not there"
        ),
        pytest.param(
            {"states": ["Running"], "ownerKinds": {"include": ["Job"]}}, {"owners": ["Job/x"]}, True, id="one that is"
        ),
        pytest.param(
            {"states": ["Running"], "ownerKinds": {"exclude": ["Job"]}},
            {"owners": ["Job/x"]},
            False,
            id="an excluded one",
        ),
        pytest.param(
            {"states": ["Running"], "namespaces": {"exclude": ["default"]}}, {}, False, id="an excluded namespace"
        ),
        pytest.param(
            {"states": ["Running"], "labelSelector": {"matchLabels": {"x": "y"}}},
            {},
            False,
            id="labels that do not match",
        ),
    ],
)
def test_pod_is_selected_when_every_category_agrees(
    args: dict[str, Any], facts: dict[str, Any], expected: bool
) -> None:
    assert is_evicted(args, **facts) is expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({"type": "PodScheduled"}, True, id="type alone"),
        pytest.param({"type": "PodScheduled", "status": "False"}, True, id="type and status"),
        pytest.param({"type": "PodScheduled", "status": "True"}, False, id="another status"),
        pytest.param({"reason": "Unschedulable"}, True, id="reason alone"),
        pytest.param({"type": "Ready", "reason": "Unschedulable"}, False, id="fields of two conditions"),
        pytest.param({"type": "PodScheduled", "minTimeSinceLastTransitionSeconds": 60}, True, id="long enough ago"),
        pytest.param({"type": "PodScheduled", "minTimeSinceLastTransitionSeconds": 61}, False, id="too recent"),
        pytest.param({"type": "Ready", "minTimeSinceLastTransitionSeconds": 0}, False, id="a time that is not known"),
        pytest.param({"type": "Initialized", "minTimeSinceLastTransitionSeconds": 0}, False, id="a time ahead"),
        pytest.param({"type": "Resized", "minTimeSinceLastTransitionSeconds": 0}, True, id="just now"),
    ],
)
def test_condition_agrees_on_every_field_given(wanted: dict[str, Any], expected: bool) -> None:
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": ago(60)}
    initialized = {"type": "Initialized", "status": "True", "lastTransitionTime": ago(-1)}
    resized = {"type": "Resized", "status": "True", "lastTransitionTime": ago(0)}

    assert is_evicted({"conditions": [wanted]}, conditions=[scheduled, initialized, resized]) is expected


def test_conditions_need_a_snapshot_that_has_them() -> None:
    pod = msgspec.structs.replace(make_pod("p"), conditions=None)

    decisions = run_plugin("PodLifeTime", NODES, [pod], args={"conditions": [{"type": "Ready"}]})

    (failure,) = decisions.failures
    assert "conditions of pods" in failure.message


def test_oldest_pods_of_all_nodes_go_first() -> None:
    pods = [make_pod("young", age=700), make_pod("old", node="b", age=9000), make_pod("middle", age=800)]

    assert evicted(run_plugin("PodLifeTime", NODES, pods, args={"maxPodLifeTimeSeconds": 600})) == [
        "old",
        "middle",
        "young",
    ]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["p0", "p2"], id="a full node only costs its own pods"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["p0"], id="a full run ends it"),
    ],
)
def test_reaction_to_limits(limits: dict[str, int], expected: list[str]) -> None:
    pods = [make_pod(f"p{n}", node=node, age=9000 - n) for n, node in enumerate("aab")]

    assert (
        evicted(run_plugin("PodLifeTime", NODES, pods, args={"maxPodLifeTimeSeconds": 600}, policy=limits)) == expected
    )


def test_protected_candidate_is_kept_with_its_reason_and_others_are_not_mentioned() -> None:
    pods = [make_pod("bare", owners=(), age=9000), make_pod("young", owners=(), age=1)]

    decisions = run_plugin("PodLifeTime", NODES, pods, args={"maxPodLifeTimeSeconds": 600})

    assert [(r.pod.name, r.verdict.reason) for r in decisions.refusals] == [("bare", Reason.BARE_POD)]


def test_sentence_names_age_and_state() -> None:
    args = {"maxPodLifeTimeSeconds": 600, "states": ["Running"]}

    decisions = run_plugin("PodLifeTime", NODES, [make_pod("p", age=700)], args=args)

    assert [booked.reason for booked in decisions.moves] == [
        "11 min 40 s old (maxPodLifeTimeSeconds: 600), phase Running (states: Running)"
    ]
