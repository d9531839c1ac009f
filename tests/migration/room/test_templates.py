"""What stands in a Reservation or a placeholder of the pod that is to move: anybody may read it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from descheduler.migration.room.koordinator.template import reservation_for_pending, reservation_of
from descheduler.migration.room.placeholder.pod import placeholder_of
from descheduler.model.koordinator.migration_job import JobPhase, MigrationJob
from tests.builders import NOW, Object, pod_object

SECRET = "hunter2"
JOB = MigrationJob("job", JobPhase.RUNNING.value, "default", "web", "u", uid="job-uid")
EXEC = {"exec": {"command": ["check", SECRET]}}
BY_HTTP = {"httpGet": {"port": 80, "httpHeaders": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]}}
TOLD = {
    "env": [{"name": "TOKEN", "value": SECRET}],
    "command": ["serve", SECRET],
    "args": [SECRET],
    "lifecycle": {"preStop": EXEC},
    "livenessProbe": EXEC,
    "readinessProbe": BY_HTTP,
    "startupProbe": BY_HTTP,
}
"""What a container is told, some of it in clear."""


@pytest.fixture
def pod() -> Object:
    """A pod whose containers are told secrets, as are those that its annotations repeat."""
    made = pod_object("web", cpu="1", annotations={"kubectl.kubernetes.io/last-applied-configuration": SECRET})
    container = made["spec"]["containers"][0] | TOLD
    made["spec"] |= {"containers": [container], "initContainers": [{"name": "init", "image": "init:1", **TOLD}]}
    return made


def test_reservations_repeat_nothing_that_containers_are_told(pod: Object) -> None:
    made: list[Any] = [
        reservation_of(JOB, pod, "owner", NOW),
        reservation_for_pending(pod, "n1", "job-uid", "job-uid-room-0", "owner", timedelta(minutes=5), NOW),
    ]

    for each in made:
        (container,) = each["spec"]["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "1"}
        assert SECRET not in json.dumps(each)


def test_placeholders_repeat_nothing_that_containers_are_told(pod: Object) -> None:
    made = placeholder_of(JOB, pod, {"cpu": 10**9}, "owner")

    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert SECRET not in json.dumps(made)


def test_placeholder_asks_for_what_the_pod_asks_for_and_for_its_host_ports() -> None:
    made = pod_object("web", node="n1")
    ports = [{"containerPort": 80}, {"containerPort": 443, "hostPort": 8443, "name": "tls"}]
    made["spec"] |= {"containers": [{"name": "a", "ports": ports}, {"name": "b"}], "tolerations": [{"key": "k"}]}

    spec = placeholder_of(JOB, made, {"cpu": 10**9, "pods": 10**9}, "owner")["spec"]

    (container,) = spec["containers"]
    assert container["resources"] == {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    assert container["ports"] == [{"containerPort": 443, "hostPort": 8443}]
    assert (spec["tolerations"], "nodeName" in spec) == ([{"key": "k"}], False)
