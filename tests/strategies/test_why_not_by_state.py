"""Why plugins that look at the state of a pod do not select it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Object, ago, container_status, make_node, make_pod
from tests.strategies.asked import Asked

NODES = [make_node("a"), make_node("b")]
WAITS = [container_status(restarts=2, waiting="CrashLoopBackOff")]
KILLED = [container_status(terminated="OOMKilled", exit_code=137)]
READY = {"type": "Ready", "status": "False", "reason": "NotReady", "lastTransitionTime": ago(60)}


def asked(plugin: str, facts: dict[str, Any], args: Object) -> str:
    pod = make_pod("p", **facts)
    found = Asked(plugin, NODES, [pod], args=args, evictor={"evictFailedBarePods": True})
    why = found.why_not(pod)
    assert found.evicted == ([] if why else ["p"])
    return why


@pytest.mark.parametrize(
    ("facts", "args", "why"),
    [
        pytest.param({"age": 61}, {"maxPodLifeTimeSeconds": 60}, "", id="too old"),
        pytest.param(
            {"age": 60}, {"maxPodLifeTimeSeconds": 60}, "1 min old (maxPodLifeTimeSeconds: 60)", id="not too old"
        ),
        pytest.param({"phase": "Failed"}, {"states": ["Failed"]}, "", id="the phase"),
        pytest.param({"containers": WAITS}, {"states": ["CrashLoopBackOff"]}, "", id="a state of a container"),
        pytest.param(
            {"containers": WAITS},
            {"states": ["Failed", "OOMKilled"]},
            "phase Running, CrashLoopBackOff (states: Failed, OOMKilled)",
            id="another phase and state",
        ),
        pytest.param(
            {"init_containers": WAITS},
            {"states": ["CrashLoopBackOff"]},
            "phase Running (states: CrashLoopBackOff)",
            id="a state of an init container",
        ),
        pytest.param(
            {},
            {"states": ["Running"], "ownerKinds": {"include": ["Job"]}},
            "owned by ReplicaSet (ownerKinds.include: Job)",
            id="another owner",
        ),
        pytest.param({}, {"states": ["Running"], "ownerKinds": {"include": ["Job", "ReplicaSet"]}}, "", id="an owner"),
        pytest.param(
            {},
            {"states": ["Running"], "ownerKinds": {"exclude": ["ReplicaSet"]}},
            "owned by ReplicaSet (ownerKinds.exclude: ReplicaSet)",
            id="an excluded owner",
        ),
        pytest.param({}, {"states": ["Running"], "ownerKinds": {"exclude": ["Job"]}}, "", id="no excluded owner"),
        pytest.param(
            {"conditions": [READY]},
            {"conditions": [{"type": "Ready", "status": "Unknown"}]},
            "no condition of the pod is one of the policy (conditions)",
            id="another status of a condition",
        ),
        pytest.param({"conditions": [READY]}, {"conditions": [{"reason": "NotReady"}]}, "", id="a condition"),
        pytest.param({"containers": KILLED}, {"exitCodes": [1, 137]}, "", id="an exit code"),
        pytest.param(
            {"containers": KILLED},
            {"exitCodes": [1]},
            "no container exited with such a code (exitCodes: 1)",
            id="another exit code",
        ),
    ],
)
def test_pod_life_time(facts: dict[str, Any], args: Object, why: str) -> None:
    assert asked("PodLifeTime", facts, args) == why


@pytest.mark.parametrize(
    ("facts", "args", "reason"),
    [
        pytest.param({"phase": "Failed"}, {"states": ["Failed"]}, "phase Failed (states: Failed)", id="the phase"),
        pytest.param(
            {"containers": KILLED},
            {"states": ["OOMKilled"], "exitCodes": [137]},
            "state OOMKilled (states: OOMKilled), a container exited with 137 (exitCodes: 137)",
            id="a state and an exit code",
        ),
        pytest.param(
            {"conditions": [READY]},
            {"conditions": [{"reason": "NotReady"}], "maxPodLifeTimeSeconds": 60},
            "1 h old (maxPodLifeTimeSeconds: 60), condition Ready=False NotReady (conditions)",
            id="an age and a condition",
        ),
    ],
)
def test_reason_of_pod_life_time_names_all_that_agrees(facts: dict[str, Any], args: Object, reason: str) -> None:
    (move,) = Asked("PodLifeTime", NODES, [make_pod("p", **facts)], args=args).decisions.moves

    assert move.reason == reason


@pytest.mark.parametrize(
    ("facts", "args", "why"),
    [
        pytest.param({}, {}, "", id="an hour old"),
        pytest.param({"phase": "Running"}, {}, "phase Running, not Failed", id="another phase"),
        pytest.param({"age": 3599}, {}, "59 min 59 s old (minPodLifetimeSeconds: 3600)", id="too young"),
        pytest.param({"age": 60}, {"minPodLifetimeSeconds": 60}, "", id="just old enough"),
        pytest.param(
            {},
            {"excludeOwnerKinds": ["ReplicaSet", "Job"]},
            "owned by ReplicaSet (excludeOwnerKinds: Job, ReplicaSet)",
            id="an excluded owner",
        ),
        pytest.param({}, {"reasons": ["Error"]}, "failed for no stated reason (reasons: Error)", id="no reason"),
        pytest.param(
            {"containers": KILLED}, {"reasons": ["Error"]}, "failed for OOMKilled (reasons: Error)", id="another reason"
        ),
        pytest.param({}, {"exitCodes": [1]}, "no container has exited (exitCodes: 1)", id="no exit code"),
        pytest.param(
            {"containers": KILLED}, {"exitCodes": [1]}, "exit code 137 (exitCodes: 1)", id="another exit code"
        ),
    ],
)
def test_remove_failed_pods(facts: dict[str, Any], args: Object, why: str) -> None:
    assert asked("RemoveFailedPods", {"phase": "Failed", **facts}, args) == why


@pytest.mark.parametrize(
    ("facts", "args", "why"),
    [
        pytest.param({"containers": WAITS}, {}, "", id="as often as the threshold"),
        pytest.param(
            {"containers": WAITS}, {"podRestartThreshold": 3}, "2 restarts (podRestartThreshold: 3)", id="less"
        ),
        pytest.param(
            {"containers": WAITS[:1], "init_containers": [container_status(restarts=1)]},
            {"podRestartThreshold": 3},
            "2 restarts (podRestartThreshold: 3)",
            id="init containers do not count",
        ),
        pytest.param(
            {"containers": WAITS, "init_containers": [container_status(restarts=1)]},
            {"podRestartThreshold": 3, "includingInitContainers": True},
            "",
            id="on request they do",
        ),
        pytest.param(
            {"containers": WAITS, "phase": "Pending"},
            {"states": ["Running"]},
            "phase Pending, CrashLoopBackOff (states: Running)",
            id="another state",
        ),
        pytest.param({"containers": WAITS}, {"states": ["CrashLoopBackOff"]}, "", id="the state of a container"),
        pytest.param({"containers": [container_status(restarts=2)]}, {"states": ["Running"]}, "", id="the phase"),
    ],
)
def test_too_many_restarts(facts: dict[str, Any], args: Object, why: str) -> None:
    assert asked("RemovePodsHavingTooManyRestarts", facts, {"podRestartThreshold": 2, **args}) == why
