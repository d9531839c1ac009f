"""Kinds of Koordinator carry pods, free text and annotations: none of what might be a secret is in a dump."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from descheduler.cluster.dumps.write import redact
from descheduler.cluster.kinds import KINDS
from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY
from tests.cluster.dumps.full_objects import full_objects

RESERVATION, JOB = "Reservation.scheduling.koordinator.sh", "PodMigrationJob.scheduling.koordinator.sh"
NEW_KINDS = (
    RESERVATION,
    JOB,
    "Device.scheduling.koordinator.sh",
    "ElasticQuota.scheduling.sigs.k8s.io",
    "PodGroup.scheduling.sigs.k8s.io",
    "NodeMetric.slo.koordinator.sh",
)
SECRET = {"name": "PASSWORD", "value": CANARY}


def container(name: str) -> Object:
    """A container with a secret wherever one may stand."""
    return {
        "name": name,
        "image": "registry/x",
        "env": [SECRET, {"name": "T", "valueFrom": {"secretKeyRef": {"name": CANARY, "key": CANARY}}}],
        "envFrom": [{"secretRef": {"name": CANARY}}],
        "args": [f"--token={CANARY}"],
        "command": ["sh", "-c", CANARY],
        "lifecycle": {"postStart": {"exec": {"command": [CANARY]}}},
        "livenessProbe": {"httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "Auth", "value": CANARY}]}},
        "resources": {"requests": {"cpu": "1"}},
    }


def template() -> Object:
    """A pod template whose secrets are in its containers, annotations and volumes."""
    return {
        "metadata": {"name": "x", "labels": {"app": "x"}, "annotations": annotations_of_kubectl()},
        "spec": {
            "schedulerName": "koord-scheduler",
            "containers": [container("main")],
            "initContainers": [container("init")],
            "ephemeralContainers": [container("debug")],
            "imagePullSecrets": [{"name": CANARY}],
            "volumes": [
                {"name": "a", "secret": {"secretName": CANARY}},
                {"name": "b", "csi": {"driver": "d", "volumeAttributes": {"token": CANARY}}},
            ],
        },
    }


def annotations_of_kubectl() -> Object:
    """Such as `kubectl apply` leaves."""
    return {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": [SECRET]}), "note": CANARY}


def objects(key: str) -> Iterator[Object]:
    """An object of the kind with secrets beside all that is read of it, and pods where it carries some."""
    name, _, group = key.partition(".")
    found = full_objects()
    obj: Object = json.loads(json.dumps(found.get(key) or found[name])) | {
        "kind": name,
        "apiVersion": f"{group}/v1alpha1",
    }
    metadata = obj.setdefault("metadata", {"name": "x"})
    metadata["annotations"] = {**metadata.get("annotations", {}), **annotations_of_kubectl()}
    metadata["managedFields"] = [{"manager": CANARY, "fieldsV1": {"f:env": {CANARY: {}}}}]
    spec = obj.setdefault("spec", {})
    if key == RESERVATION:
        spec["template"] = template()
    if key == JOB:
        spec["reservationOptions"] = {
            "template": {"spec": {"template": template(), "owners": [{"object": {"name": "x"}}]}}
        }
        yield {**obj, "spec": {**spec, "reservationOptions": {"template": template()}}}
    yield obj


@pytest.mark.parametrize("key", NEW_KINDS)
def test_dump_holds_no_text_that_may_be_a_secret(key: str) -> None:
    for obj in objects(key):
        assert json.dumps(obj).count(CANARY) > 3
        assert CANARY not in json.dumps(redact(KINDS[key], obj))


def test_template_of_a_reservation_keeps_what_the_scheduler_reads() -> None:
    (obj,) = objects(RESERVATION)

    redacted: Object = redact(KINDS[RESERVATION], obj)

    pod = redacted["spec"]["template"]
    assert pod["metadata"]["labels"] == {"app": "x"}
    assert pod["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    assert "env" not in pod["spec"]["containers"][0]
