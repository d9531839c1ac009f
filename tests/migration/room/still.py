"""A cluster in which nothing happens by itself, a job for pod `web-0` in it, and pods that come in its place."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from descheduler.migration.job.conditions import with_condition
from descheduler.migration.replacements import Successors
from descheduler.migration.room.labels import labels_of
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    REPLACEMENT_ANNOTATION,
    SURGE_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from tests.builders import NOW, owner, pod_object
from tests.living.cluster import LivingCluster

Object = dict[str, Any]
OWNER = "test"
UID = "99999999-2222-4333-8444-555555555555"
SUCCESSORS = {REPLACEMENT_ANNOTATION: Successors("shop", "replicaset-web").encoded()}
SURGED = {CREATED_BY_ANNOTATION: "us", SURGE_ANNOTATION: '{"kind":"Deployment","name":"web","uid":"w"}'}


def still(*objects: Object | None) -> LivingCluster:
    """A cluster with these objects."""
    return LivingCluster([each for each in objects if each is not None], acts=False)


def pod(name: str, node: str = "", *, age: float = 0, workload: str = "ReplicaSet/web", **facts: Any) -> Object:
    """A pod in namespace shop whose UID is its name."""
    return pod_object(name, namespace="shop", uid=name, node=node, age=age, owners=[workload], **facts)


OLD = pod("web-0", "n1", age=3600)


def job(*, is_evicted: bool = False, seconds: float = 10, **facts: Any) -> MigrationJob:
    """A job that has asked for room `r` on node n2; with `is_evicted` its pod was asked to leave `seconds` ago."""
    made = MigrationJob(
        "j", "Running", "shop", "web-0", "web-0", uid=UID, reservation_name="r", node_name="n2", annotations=SUCCESSORS
    )
    if is_evicted:
        since = NOW - timedelta(seconds=seconds)
        made = with_condition(made, JobConditionType.EVICTION, False, since, JobReason.EVICTING, probed_at=since)
    return replace(made, **facts)


def reference(name: str) -> Object:
    """As `status.currentOwners` has it."""
    return {"namespace": "shop", "name": name, "uid": name}


def named(name: str) -> ObjectReference:
    return ObjectReference("shop", name, name)


BY_CONTROLLER = {"controller": {**owner("ReplicaSet/web"), "namespace": "shop"}}
OF_ONE_POD = {"object": {"namespace": "shop", "name": "web-0", "uid": "web-0"}}


def reservation(
    name: str = "r",
    *,
    job_uid: str = UID,
    of: str = OWNER,
    node: str = "n2",
    phase: str = "Available",
    conditions: tuple[tuple[str, str, str], ...] = (("Scheduled", "True", ""),),
    used_by: tuple[str, ...] = (),
    owners: tuple[Object, ...] = (BY_CONTROLLER,),
    spec: Object | None = None,
    **metadata: Any,
) -> Object:
    """A Reservation of ours that has its node; `conditions` are type, status and reason, and their message is that."""
    told = [{"type": kind, "status": status, "reason": why, "message": why} for kind, status, why in conditions]
    used = [reference(each) for each in used_by]
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels_of(job_uid, of), **metadata},
        "spec": {"owners": list(owners), "allocateOnce": True, "template": {"spec": {}}, **(spec or {})},
        "status": {"phase": phase, "nodeName": node, "conditions": told, "currentOwners": used},
    }
