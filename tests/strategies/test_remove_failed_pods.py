"""RemoveFailedPods: pods in phase Failed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import container_status, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node("a"), make_node("b")]
KILLED = [container_status(terminated="OOMKilled", exit_code=137)]
WAITING = [container_status(waiting="CreateContainerError")]


@pytest.mark.parametrize(
    ("args", "facts", "expected"),
    [
        pytest.param({}, {}, True, id="an hour old by default"),
        pytest.param({}, {"age": 3599}, False, id="younger than an hour"),
        pytest.param({"minPodLifetimeSeconds": 0}, {"age": 0}, True, id="no least age"),
        pytest.param({}, {"age": -10}, True, id="a pod from the future counts as old"),
        pytest.param({}, {"age": None}, True, id="so does one without creation time"),
        pytest.param({}, {"phase": "Succeeded"}, False, id="another phase"),
        pytest.param({"excludeOwnerKinds": ["Job"]}, {"owners": ["Job/x"]}, False, id="an excluded owner"),
        pytest.param({"excludeOwnerKinds": ["Job"]}, {}, True, id="another owner"),
        pytest.param({"reasons": ["OOMKilled"]}, {"containers": KILLED}, True, id="why a container terminated"),
        pytest.param({"reasons": ["CreateContainerError"]}, {"containers": WAITING}, True, id="why a container waits"),
        pytest.param({"reasons": ["Evicted"]}, {"reason": "Evicted"}, True, id="the reason of the status"),
        pytest.param({"reasons": ["Error"]}, {"containers": KILLED}, False, id="another reason"),
        pytest.param({"reasons": [""]}, {"containers": [container_status()]}, False, id="no reason is no empty reason"),
        pytest.param({"reasons": ["OOMKilled"]}, {"init_containers": KILLED}, False, id="not of init containers"),
        pytest.param(
            {"reasons": ["OOMKilled"], "includingInitContainers": True},
            {"init_containers": KILLED},
            True,
            id="on request",
        ),
        pytest.param({"exitCodes": [137]}, {"containers": KILLED}, True, id="an exit code"),
        pytest.param({"exitCodes": [1]}, {"containers": KILLED}, False, id="another exit code"),
        pytest.param(
            {"exitCodes": [1], "reasons": ["OOMKilled"]}, {"containers": KILLED}, False, id="reason and code must agree"
        ),
        pytest.param({"namespaces": {"include": ["z"]}}, {}, False, id="another namespace"),
        pytest.param({"labelSelector": {"matchLabels": {"x": "y"}}}, {}, False, id="other labels"),
        pytest.param({}, {"owners": ()}, False, id="a bare pod is protected"),
    ],
)
def test_failed_pod_is_selected(args: dict[str, Any], facts: dict[str, Any], expected: bool) -> None:
    pod = make_pod("p", **({"phase": "Failed"} | facts))

    assert (evicted(run_plugin("RemoveFailedPods", NODES, [pod], args=args)) == ["p"]) is expected


def test_bare_failed_pod_goes_when_the_evictor_allows_it() -> None:
    pod = make_pod("p", phase="Failed", owners=())

    assert evicted(run_plugin("RemoveFailedPods", NODES, [pod], evictor={"evictFailedBarePods": True})) == ["p"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["p0", "p2"], id="a full node ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["p0"], id="a full run ends the strategy"),
    ],
)
def test_reaction_to_limits(limits: dict[str, int], expected: list[str]) -> None:
    pods = [make_pod(f"p{n}", node=node, phase="Failed") for n, node in enumerate("aab")]

    assert evicted(run_plugin("RemoveFailedPods", NODES, pods, policy=limits)) == expected


def test_sentence_names_reasons_and_exit_codes() -> None:
    decisions = run_plugin("RemoveFailedPods", NODES, [make_pod("p", phase="Failed", containers=KILLED)])

    assert [booked.reason for booked in decisions.moves] == ["phase Failed (OOMKilled, exit code 137)"]
