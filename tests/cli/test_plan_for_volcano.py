"""`descheduler plan --for` a manifest of a Volcano Job: room for the whole Job, or a message that says why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Object
from tests.cli.commands import Descheduler
from tests.placement.volcano.worlds import group, node, owned, pods, queue, renamed

pytestmark = pytest.mark.long

_JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: batch}
spec:
  tasks:
  - name: ps
    replicas: 1
    template: {spec: {containers: [{name: main, resources: {requests: {memory: 1Gi}}}]}}
  - name: worker
    replicas: 2
    template: {spec: {containers: [{name: main, resources: {requests: {cpu: 5}}}]}}
"""
_RUNNING = [
    *(node(name, cpu=cpu) for name, cpu in {"a": "8", "b": "8", "c": "4"}.items()),
    *(renamed(f"fixed-{on}", pods("fixed", 1, cpu="3", on=on)) for on in "ab"),
    *(renamed(f"filler-{on}", owned(pods(f"of-{on}", 1, cpu="2", on=on))) for on in "ab"),
    *(group(f"of-{on}", phase="Running") for on in "ab"),
    group("fixed", least=2, phase="Running"),
]
"""A worker needs 5 cores: 3 are free on a and on b, where a pod can leave for c, which is free."""


@pytest.fixture
def plan(descheduler: Descheduler, tmp_path: Path) -> Any:
    """The document of a plan for the Job over the running pods and queues."""

    def run(*queues: Object, job: str = _JOB) -> Object:
        (tmp_path / "job.yaml").write_text(job)
        dump = tmp_path / "dump.json"
        dump.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*_RUNNING, *queues]}))
        ended = descheduler("plan", "--for", tmp_path / "job.yaml", "--snapshot", dump, "-o", "json")
        assert ended.code == 0, ended.err
        found: Object = json.loads(ended.out)
        return found

    return run


def said(document: Object) -> tuple[list[str], str]:
    (objective,) = document["goal"]["objectives"]
    return sorted(move["pod"]["name"] for move in document["moves"]), str(objective["sentence"])


def test_room_is_made_for_the_whole_job(plan: Any) -> None:
    evicted, sentence = said(plan(queue("default")))

    assert evicted == ["filler-a", "filler-b"]
    assert sentence.startswith("3 pods pending → 0 (batch/train-ps-wanted-0 onto ")


def test_no_room_is_made_for_a_part_of_the_job(plan: Any) -> None:
    evicted, sentence = said(plan(queue("default"), job=_JOB.replace("replicas: 2", "replicas: 3")))

    assert evicted == []
    assert sentence.startswith("4 pods pending → 4 with 0 evictions")


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        pytest.param(
            queue("other"), "queue default of PodGroup batch/train-wanted does not exist", id="its queue is missing"
        ),
        pytest.param(
            queue("default", capability={"cpu": "8"}),
            "job batch/train-wanted is not admitted to queue default (plugin proportion in tier 2: minResources do not"
            " fit; 20 CPU of 8)",
            id="its queue is too small",
        ),
    ],
)
def test_it_is_said_why_no_room_helps_the_job(plan: Any, found: Object, cause: str) -> None:
    evicted, sentence = said(plan(found))

    assert evicted == []
    assert sentence.endswith(f"; 3 pods are not scheduled onto any node: {cause}")


def test_a_job_that_volcano_rejects_is_refused(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(_JOB.replace("spec:\n  tasks", "spec:\n  minAvailable: 4\n  tasks"))

    ended = descheduler("plan", "--for", file)

    assert ended.code == 2
    assert f"{file}: Job train: minAvailable (4) is above the replicas of its tasks (3)" in ended.err
