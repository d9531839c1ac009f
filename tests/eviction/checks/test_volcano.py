"""What Volcano would never evict stays: preemptable, cooldown, phases of PodGroups and states of Queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import Object, ago
from tests.eviction.checks.volcano_jobs import clear, evicted, pod_group, queue, refusals, task

PREEMPTABLE, COOLDOWN = "volcano.sh/preemptable", "volcano.sh/cooldown-time"
JOB = [pod_group(), task("other", node="room")]


def scheduled(seconds: float, status: str = "True") -> list[Object]:
    return [{"type": "PodScheduled", "status": status, "lastTransitionTime": ago(seconds)}]


@pytest.mark.parametrize(
    ("facts", "stays"),
    [
        pytest.param({}, False, id="nothing is said"),
        pytest.param({"annotations": {PREEMPTABLE: "true"}}, False, id="true"),
        pytest.param({"annotations": {PREEMPTABLE: "false"}}, True, id="false"),
        pytest.param({"annotations": {PREEMPTABLE: "yes"}}, True, id="no boolean"),
        pytest.param({"labels": {PREEMPTABLE: "0"}}, True, id="label"),
        pytest.param({"annotations": {PREEMPTABLE: "T"}, "labels": {PREEMPTABLE: "0"}}, False, id="annotation first"),
    ],
)
def test_pod_that_is_not_preemptable_stays(facts: dict[str, Any], stays: bool) -> None:
    result = clear([*JOB, task("p", **facts)])

    assert refusals(result) == ([("p", "NotPreemptable")] if stays else [])


def test_task_of_the_system_stays() -> None:
    group = pod_group()
    group["metadata"]["namespace"] = "kube-system"
    system = task("in-system", namespace="kube-system")
    critical = task("critical", spec={"priorityClassName": "system-node-critical"})

    assert refusals(clear([group, *JOB, system, critical])) == [
        ("critical", "NotPreemptable"),
        ("in-system", "NotPreemptable"),
    ]


@pytest.mark.parametrize(
    ("facts", "stays"),
    [
        pytest.param({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(599)}, True, id="scheduled 599 s ago"),
        pytest.param({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(600)}, False, id="scheduled 600 s ago"),
        pytest.param({"annotations": {COOLDOWN: "1h"}, "conditions": scheduled(60)}, True, id="annotation"),
        pytest.param(
            {"labels": {COOLDOWN: "1m"}, "annotations": {COOLDOWN: "1h"}, "conditions": scheduled(90)},
            False,
            id="label first",
        ),
        pytest.param({"labels": {COOLDOWN: "soon"}, "conditions": scheduled(1)}, False, id="no duration"),
        pytest.param({"labels": {COOLDOWN: "1h"}}, False, id="no condition"),
        pytest.param({"labels": {COOLDOWN: "1h"}, "conditions": scheduled(1, "False")}, False, id="not scheduled"),
        pytest.param(
            {"labels": {COOLDOWN: "1h"}, "conditions": scheduled(1), "phase": "Pending"}, False, id="does not run"
        ),
    ],
)
def test_pod_stays_while_it_cools_down_from_being_scheduled(facts: dict[str, Any], stays: bool) -> None:
    result = clear([*JOB, task("p", **facts)])

    assert refusals(result) == ([("p", "TaskCooldown")] if stays else [])


def test_message_says_when_the_pod_was_scheduled() -> None:
    (refusal,) = clear([*JOB, task("p", labels={COOLDOWN: "10m"}, conditions=scheduled(90))]).refusals

    assert refusal.message == "scheduled 1m30s ago (volcano.sh/cooldown-time: 10m)"


@pytest.mark.parametrize("phase", ["Pending", "Inqueue", "Unknown", "Completed"])
def test_task_of_a_job_that_does_not_run_as_a_whole_stays(phase: str) -> None:
    result = clear([pod_group(phase=phase), task("other", node="room"), task("p")])

    assert [(each.code, each.message) for each in result.refusals] == [
        ("PodGroupPhase", f"PodGroup default/train is in phase {phase}")
    ]


@pytest.mark.parametrize("phase", ["", "Running"])
def test_task_of_a_running_job_may_go(phase: str) -> None:
    assert evicted(clear([pod_group(phase=phase), task("other", node="room"), task("p")])) == ["p"]


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        pytest.param([queue(state="Closed")], "queue default is in state Closed", id="closed"),
        pytest.param([queue(state="Closing")], "queue default is in state Closing", id="closing"),
        pytest.param([queue(state="Unknown")], "queue default is in state Unknown", id="unknown"),
        pytest.param([queue("batch")], "queue default does not exist", id="missing"),
    ],
)
def test_task_whose_queue_is_not_open_stays(queues: Sequence[Object], message: str) -> None:
    (refusal,) = clear([*JOB, *queues, task("p")]).refusals

    assert (refusal.code, refusal.message) == ("QueueNotOpen", message)


@pytest.mark.parametrize("queues", [[], [queue()], [queue(state="")]], ids=["no queues", "open", "no state"])
def test_task_whose_queue_is_open_or_not_known_may_go(queues: Sequence[Object]) -> None:
    assert evicted(clear([*JOB, *queues, task("p")])) == ["p"]


def test_profile_without_proof_evicts_as_upstream_does() -> None:
    spared = task("p", annotations={PREEMPTABLE: "false"})

    assert evicted(clear([pod_group(phase="Pending"), queue(state="Closed"), spared], verifies=False)) == ["p"]
