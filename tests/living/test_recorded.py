"""Recorded scripts are played in a living cluster as they were in the real one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.living.builders import deployment, node
from tests.living.recorded import RecordedScript
from tests.living.store import Object

pytestmark = pytest.mark.own_calls

_BORN = "2026-11-21T10:31:02Z"


def case(*steps: Object) -> Object:
    """A case as it is recorded: pods state neither kind nor version, ReplicaSets are left out."""
    whole, _, *pods = deployment("web", 2, on=["n1", "n1"], scheduler="koord-scheduler")
    for pod in pods:
        pod["metadata"] |= {"creationTimestamp": _BORN, "uid": f"uid-{pod['metadata']['name']}"}
        del pod["kind"], pod["apiVersion"]
    name = pods[0]["metadata"]["name"]
    job = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "j"},
        "spec": {"paused": True, "podRef": {"namespace": "shop", "name": name}},
    }
    nodes = [node("n1"), node("n2")]
    others: dict[str, Any] = {"others": [], "reservations": [], "steps": steps}
    return {"nodes": nodes, "workloads": [whole], "pods": pods, "target": name, "job": job, **others}


def test_the_pods_are_there_and_the_job_is_new() -> None:
    script = RecordedScript(case())
    script.cluster.clock.sleep(30)

    assert script.cluster.nodes_of("web") == ["n1", "n1"]
    assert (script.sequence, script.is_over) == ([{"phase": "", "status": "", "reason": ""}], False)
    assert script.cluster.clock.text() == "2026-11-21T10:32:33Z"


def test_steps_come_when_they_came() -> None:
    script = RecordedScript(case({"at": 6, "do": "patch-job", "patch": {"spec": {"paused": False}}}))

    script.cluster.clock.sleep(5)
    before = (script.job or {})["spec"]["paused"]
    script.cluster.clock.sleep(2)

    assert (before, (script.job or {})["spec"]["paused"]) == (True, False)


def test_a_deleted_pod_is_replaced() -> None:
    recorded = case({"at": 1, "do": "delete-pod"})
    script = RecordedScript(recorded)
    script.cluster.clock.sleep(20)

    names = {pod["metadata"]["name"] for pod in script.cluster.pods("web")}
    assert (len(names), recorded["target"] in names) == (2, False)


def test_the_sequence_of_the_job_is_kept() -> None:
    script = RecordedScript(case({"at": 9, "do": "delete-job"}))
    path = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs/j/status"
    for phase in ("Running", "Failed"):
        body = json.dumps({**(script.job or {}), "status": {"phase": phase, "reason": "Timeout"}}).encode()
        script.cluster.client().send("PUT", path, body=body)

    assert [entry["phase"] for entry in script.sequence] == ["", "Running", "Failed"]
    assert script.is_over
    script.cluster.clock.sleep(10)
    assert (script.job, script.is_deleted) == (None, True)
