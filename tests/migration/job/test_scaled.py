"""What is read of a Deployment that may be surged: who has set its replicas, and what stands against it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.migration.job.scaled import Scaled, decode_scaled
from descheduler.migration.job.surge import Surge

SURGE = Surge(kind="Deployment", name="web", uid="u")
OURS = {"manager": "ours", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
APPLIED = {"manager": "gitops", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {}}}}
STATUS = {"manager": "kube-controller-manager", "subresource": "status", "fieldsV1": {"f:status": {"f:replicas": {}}}}


def deployment(
    *,
    replicas: int | None = 1,
    spec: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    kind: str = "Deployment",
    **metadata: Any,
) -> Scaled:
    """A Deployment whose controller has done all that there is to do."""
    count = 1 if replicas is None else replicas
    counts = {"replicas": count, "updatedReplicas": count, "availableReplicas": count, "observedGeneration": 3}
    head = {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 3, **metadata}
    whole = {
        "kind": kind,
        "metadata": head,
        "spec": {"replicas": replicas, **(spec or {})},
        "status": {**counts, **(status or {})},
    }
    return decode_scaled(json.dumps(whole).encode())


def test_nothing_stands_against_a_deployment_with_one_pod_that_is_available() -> None:
    assert deployment().obstacle() == ""
    assert deployment(replicas=None).obstacle() == ""
    assert deployment(kind="ReplicaSet", status={"updatedReplicas": None}).obstacle() == ""


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param({"replicas": 2}, "has 2 replicas", id="two replicas"),
        pytest.param({"spec": {"paused": True}}, "is paused", id="a pause"),
        pytest.param({"spec": {"strategy": {"type": "Recreate"}}}, "strategy Recreate", id="the strategy Recreate"),
        pytest.param({"status": {"observedGeneration": 2}}, "is rolling out", id="a spec nobody has seen"),
        pytest.param({"status": {"updatedReplicas": 0}}, "is rolling out", id="a pod of an older template"),
        pytest.param({"status": {"replicas": 2}}, "is rolling out", id="one pod too many"),
        pytest.param({"status": {"availableReplicas": None}}, "is not available", id="a pod that does not serve"),
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "is being deleted", id="its deletion"),
        pytest.param(
            {"ownerReferences": [{"kind": "Rollout", "name": "r", "controller": True}]},
            "is managed by Rollout r",
            id="a controller of its own",
        ),
    ],
)
def test_a_surge_is_refused_beside(facts: dict[str, Any], why: str) -> None:
    assert why in deployment(**facts).obstacle()


@pytest.mark.parametrize(
    ("facts", "is_raised"),
    [
        pytest.param({"replicas": 2, "managedFields": [STATUS, OURS]}, True, id="set by us"),
        pytest.param({"replicas": 2, "managedFields": [OURS, APPLIED]}, False, id="stated by another one, too"),
        pytest.param({"replicas": 2, "managedFields": [APPLIED]}, False, id="set by another one"),
        pytest.param({"replicas": 2, "managedFields": None}, False, id="set by nobody knows whom"),
        pytest.param({"replicas": 3, "managedFields": [OURS]}, False, id="another number"),
        pytest.param({"replicas": 2, "managedFields": [OURS], "uid": "v"}, False, id="another object of the name"),
    ],
)
def test_replicas_are_raised_by_who_has_set_them_alone(facts: dict[str, Any], is_raised: bool) -> None:
    assert deployment(**facts).is_raised_by("ours", SURGE) is is_raised


@pytest.mark.parametrize("text", ["{}", "[]", '{"kind": "Status", "metadata": {}, "spec": {}}', "[" * 100])
def test_what_is_no_workload_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the decoder says of it
        decode_scaled(text.encode())


def test_an_object_of_another_kind_is_not_taken_for_a_workload() -> None:
    with pytest.raises(ValueError, match="Scale"):
        deployment(kind="Scale")
