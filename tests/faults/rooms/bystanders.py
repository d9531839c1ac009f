"""Objects that only look like what the program makes, and broken ones among those that it reads."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping
from typing import Any

from tests.faults.objects import NOW, Object, budget, pod, replica_set
from tests.faults.rooms.kinds import (
    CONFIG_MAPS,
    CREATED_BY,
    JOB_LABEL,
    JOBS,
    OWNER,
    OWNER_LABEL,
    PODS,
    PRIORITY_CLASS,
    RESERVATIONS,
)

Found = dict[str, list[Object]]
"""Path of a list → objects to be put into it."""

_LONG_AGO = "2024-03-01T08:00:00Z"
_LOWEST_COST = "-2147483648"
_COST = "controller.kubernetes.io/pod-deletion-cost"


def lookalikes(draw: random.Random, node: str, *, has_jobs: bool) -> Found:
    """Pods, ConfigMaps, jobs and Reservations of others with labels, annotations or names such as ours have."""
    found: Found = {
        PODS: _pods(draw, node),
        CONFIG_MAPS: _config_maps(draw),
        "/apis/apps/v1/statefulsets": [replica_set("db", namespace="data", replicas=1, kind="StatefulSet")],
        "/apis/policy/v1/poddisruptionbudgets": [budget("db", namespace="data", allowed=0)],
    }
    if has_jobs:
        found |= {JOBS: _jobs(draw), RESERVATIONS: _reservations(draw)}
    return found


def _labels(draw: random.Random, job_uid: str = "") -> dict[str, str]:
    labels = {OWNER_LABEL: OWNER, JOB_LABEL: job_uid or _uid(draw), "app.kubernetes.io/managed-by": "descheduler"}
    return {key: labels[key] for key in labels if key == OWNER_LABEL or draw.random() < 0.8}


def _pods(draw: random.Random, node: str) -> list[Object]:
    etcd = pod("etcd-n1", namespace="kube-system", node=node, cpu_milli=10)
    etcd["spec"] |= {"priorityClassName": "system-node-critical", "priority": 2_000_001_000}
    member = pod("db-0", namespace="data", node=node, owner="StatefulSet/db", app="db", cpu_milli=10)
    stem = _uid(draw)
    named = pod(f"placeholder-{stem}", namespace="shop", node=node, cpu_milli=10)
    owned = pod("placeholder-of-team-a", namespace="shop", node=node, owner="ReplicaSet/team-a", cpu_milli=10)
    owned["spec"] |= {"priorityClassName": PRIORITY_CLASS, "priority": -1_000_000_000}
    owned["metadata"]["creationTimestamp"] = NOW  # no plugin selects it
    for item in (etcd, member, owned):
        item["metadata"]["labels"] |= _labels(draw)
    named["metadata"]["labels"] |= _labels(draw, stem)
    costly = pod("costly", namespace="shop", node=node, cpu_milli=10)
    costly["metadata"]["annotations"] = {_COST: _LOWEST_COST}
    return [etcd, member, named, owned, costly]


def _config_maps(draw: random.Random) -> list[Object]:
    claimed = {CREATED_BY: OWNER}
    ended = {"spec": {"podRef": {"namespace": "shop", "name": "p0"}}, "status": {"phase": "Failed"}}
    begun = {"spec": {"podRef": {"namespace": "data", "name": "db-0", "uid": "data.db-0.0"}}}
    return [
        _config_map("settings", draw, {"job.json": json.dumps(ended), "colour": "blue"}, claimed),
        _config_map("notes", draw, {"job.json": json.dumps(begun | {"status": {"phase": "Running"}})}, claimed),
        _config_map("plain", draw, {"colour": "red"}, {}),
    ]


def _config_map(name: str, draw: random.Random, content: Any, annotations: Mapping[str, str]) -> Object:
    metadata: Object = {"name": name, "namespace": "kube-system", "uid": _uid(draw), "creationTimestamp": _LONG_AGO}
    metadata |= {"labels": {OWNER_LABEL: OWNER}, "annotations": dict(annotations)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": content}


def _jobs(draw: random.Random) -> list[Object]:
    surge = json.dumps({"kind": "Deployment", "name": "web", "uid": "d"})
    return [
        job("nightly", draw, pod_name="p0", phase="Succeeded", annotations={CREATED_BY: OWNER}),
        job("moves-db", draw, namespace="data", pod_name="db-0", phase="Running", annotations={CREATED_BY: OWNER}),
        job(
            "surged",
            draw,
            pod_name="costly",
            pod_uid="shop.costly.0",
            phase="Failed",
            annotations={CREATED_BY: OWNER, "descheduler/surge": surge},
        ),
        job("of-another", draw, pod_name="costly", phase="Running", annotations={CREATED_BY: "koord-descheduler"}),
    ]


def job(
    name: str,
    draw: random.Random,
    *,
    namespace: str = "shop",
    pod_name: str,
    pod_uid: str = "",
    phase: str = "",
    created: str = _LONG_AGO,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A PodMigrationJob that somebody has created."""
    reference = {"namespace": namespace, "name": pod_name} | ({"uid": pod_uid} if pod_uid else {})
    metadata = {"name": name, "uid": _uid(draw), "creationTimestamp": created, "annotations": dict(annotations or {})}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": metadata,
        "spec": {"podRef": reference, "ttl": "5m"} | spec,
        "status": {"phase": phase} if phase else {},
    }


def _reservations(draw: random.Random) -> list[Object]:
    stem = _uid(draw)
    held = {"phase": "Available", "nodeName": "t1"}
    return [
        reservation("team-a-room", draw, labels=_labels(draw), status=held),
        reservation(f"{stem}-room-x", draw, labels=_labels(draw, stem), status=held),
    ]


def reservation(
    name: str, draw: random.Random, *, labels: Mapping[str, str] | None = None, status: Any = None, **spec: Any
) -> Object:
    """A Reservation that somebody has created."""
    owners = [{"object": {"namespace": "shop", "name": "somebody"}}]
    template = {"spec": {"containers": [{"name": "main", "image": "app:1"}]}}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": name, "uid": _uid(draw), "creationTimestamp": _LONG_AGO, "labels": dict(labels or {})},
        "spec": {"template": template, "owners": owners, "ttl": "24h"} | spec,
        "status": status or {},
    }


def broken_objects(draw: random.Random, *, has_jobs: bool) -> Found:
    """Some objects, of users or of an earlier run of ours, of which a part cannot be read."""
    found: Found = {CONFIG_MAPS: [_broken_map(draw)]}
    if has_jobs:
        found |= {JOBS: [_broken_job(draw) for _ in range(2)], RESERVATIONS: [_broken_reservation(draw)]}
    return found


def claimed_uid(item: Object) -> str:
    """The UID of an object that says that it is a job of ours, "" for others."""
    metadata = item["metadata"]
    return metadata["uid"] if (metadata.get("annotations") or {}).get(CREATED_BY) == OWNER else ""


def _broken_map(draw: random.Random) -> Object:
    texts = ("{", '{"spec": 5}', "[]", '{"spec": {"ttl": "soon"}}', '{"status": {"phase": 5}}')
    content = draw.choice((*({"job.json": text} for text in texts), None))
    return _config_map(f"descheduler-job-{_uid(draw)}", draw, content, {CREATED_BY: OWNER})


_BROKEN_SPECS: tuple[Object, ...] = (
    {"ttl": "soon"}, {"ttl": 5}, {"deleteOptions": "x"}, {"paused": "yes"}, {"podRef": []}, {"mode": 7},
    {"deleteOptions": {"gracePeriodSeconds": "soon"}}, {"reservationOptions": "x"},
    {"reservationOptions": {"template": "x"}}, {"reservationOptions": {"template": {"spec": {"template": "x"}}}},
    {"reservationOptions": {"template": {"metadata": {"labels": "x"}}}},
    {"reservationOptions": {"template": {"spec": {"template": {"spec": {"priority": "high"}}}}}},
)  # fmt: skip
_BROKEN_STATUSES: tuple[Any, ...] = ({"phase": 5}, {"conditions": "x"}, {"conditions": [{"type": []}]}, {"podRef": 5})
_OF_OURS = {CREATED_BY: OWNER, "descheduler/reservation-provider": "placeholder"}


def _broken_job(draw: random.Random) -> Object:
    """Over a pod that would be moved if only it could be read."""
    broken = draw.choice((*_BROKEN_SPECS, None))
    found = job(
        _uid(draw),
        draw,
        pod_name=draw.choice(("free-0", "free-1", "bare")),
        phase=draw.choice(("", "Pending", "Running")),
        annotations=draw.choice(({}, {}, _OF_OURS)),
        **(broken or {}),
    )
    if broken is None:
        found["status"] = draw.choice(_BROKEN_STATUSES)
    return found


def _broken_reservation(draw: random.Random) -> Object:
    spec = draw.choice(({"template": "x"}, {"owners": 5}, {"ttl": "soon"}, {"owners": ["x"]}, {"taints": "x"}))
    status = draw.choice(({}, {"phase": 5}, {"currentOwners": "x"}, {"conditions": [5]}))
    return reservation(_uid(draw), draw, labels=draw.choice(({}, _labels(draw))), status=status, **spec)


def _uid(draw: random.Random) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))
