"""Living clusters in a few words: nodes, workloads with their pods, budgets, priority classes, quotas, Reservations."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.living.acting.workloads import reference_to
from tests.living.cluster import LivingCluster
from tests.living.store import Object

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_BORN = "2026-06-01T08:00:00Z"


def living_cluster(
    nodes: int | Iterable[Object] = 3,
    workloads: Iterable[Sequence[Object]] = (),
    others: Iterable[Object] = (),
    *,
    settle_seconds: float = 30.0,
    **options: Any,
) -> LivingCluster:
    """A cluster in which everything has been placed and has become ready, with `options` of `LivingCluster`.

    `nodes` is a number of nodes n1, n2, … with the defaults of `node`, or the nodes themselves.
    """
    made = [node(f"n{number + 1}") for number in range(nodes)] if isinstance(nodes, int) else list(nodes)
    cluster = LivingCluster([*made, *others, *(item for parts in workloads for item in parts)], **options)
    cluster.clock.sleep(settle_seconds)
    return cluster


def node(
    name: str,
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[str] = (),
    unschedulable: bool = False,
    **extended: str,
) -> Object:
    """A ready node; `taints` are written `key=value:effect`, `extended` resources as `nvidia_com__gpu="8"`."""
    resources = {"cpu": cpu, "memory": memory, "pods": str(pods), **_resources(extended)}
    keys = [(taint.partition("=")[0], *taint.partition("=")[2].partition(":")[::2]) for taint in taints]
    spec: Object = {"taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in keys]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec | ({"unschedulable": True} if unschedulable else {}),
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def deployment(
    app: str, replicas: int = 1, *, on: Sequence[str] = (), namespace: str = "shop", **pod: Any
) -> list[Object]:
    """A Deployment with its ReplicaSet; its pods run on the nodes `on` already, others are yet to be created.

    `pod` holds what `template` takes: cpu, memory, labels, annotations, scheduler, and parts of the pod's spec.
    """
    made = template(app, **pod)
    hashed = {"pod-template-hash": "5d9c7b"}
    name = f"{app}-5d9c7b"
    meta, spec = made["metadata"], made["spec"]
    inner = {"metadata": {**meta, "labels": {**meta["labels"], **hashed}}, "spec": spec}
    whole = _workload("Deployment", app, namespace, replicas, made, app)
    part = _workload("ReplicaSet", name, namespace, replicas, inner, app)
    part["metadata"]["ownerReferences"] = [reference_to(whole)]
    part["spec"]["selector"]["matchLabels"] |= hashed
    draw = random.Random(f"{namespace}/{app}")
    names = [f"{name}-{''.join(draw.choices(_LETTERS, k=5))}" for _ in on]
    return [whole, part, *(_running(part, pod_name, where) for pod_name, where in zip(names, on, strict=True))]


def stateful_set(
    app: str, replicas: int = 1, *, on: Sequence[str] = (), namespace: str = "shop", parallel: bool = False, **pod: Any
) -> list[Object]:
    """A StatefulSet, as `deployment`."""
    whole = _workload("StatefulSet", app, namespace, replicas, template(app, **pod), app)
    whole["spec"]["podManagementPolicy"] = "Parallel" if parallel else "OrderedReady"
    return [whole, *(_running(whole, f"{app}-{number}", where) for number, where in enumerate(on))]


def template(
    app: str,
    *,
    cpu: str = "500m",
    memory: str = "256Mi",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    scheduler: str = "default-scheduler",
    grace_seconds: int = 30,
    resources: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A pod template of one container; `spec` holds further parts of the pod's spec, such as `affinity`."""
    requests = {"cpu": cpu, "memory": memory, **(resources or {})}
    return {
        "metadata": {"labels": {"app": app, **(labels or {})}, "annotations": dict(annotations or {})},
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": grace_seconds,
            "containers": [{"name": "main", "image": "app:1", "resources": {"requests": requests}}],
            **spec,
        },
    }


def pod(name: str, *, namespace: str = "shop", on: str = "", **facts: Any) -> Object:
    """A bare pod of app `name`, running on the node `on`, or pending; `facts` as `template` takes them."""
    made = template(name, **facts)
    metadata = {**made["metadata"], "name": name, "namespace": namespace}
    spec = {**made["spec"]} | ({"nodeName": on} if on else {})
    status = _RUNNING if on else {"phase": "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def placeholder(name: str, job_uid: str, **facts: Any) -> Object:
    """A pod that holds room for a job."""
    return pod(name, labels={"descheduler/job": job_uid}, grace_seconds=0, **facts)


def budget(app: str, *, namespace: str = "shop", **spec: Any) -> Object:
    """A PodDisruptionBudget of the pods of `app`: `maxUnavailable=1`, `minAvailable="50%"`."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def priority_class(name: str, value: int, *, preempts: bool = True) -> Object:
    """A PriorityClass."""
    policy = "PreemptLowerPriority" if preempts else "Never"
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**head, "metadata": {"name": name}, "value": value, "preemptionPolicy": policy}


def elastic_quota(name: str, *, namespace: str = "shop", parent: str = "", **limit: str) -> Object:
    """An ElasticQuota with a `max`: `elastic_quota("team", cpu="4")`."""
    labels = {"quota.scheduling.koordinator.sh/parent": parent} if parent else {}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"max": _resources(limit), "min": {}},
    }


def reservation(
    name: str, app: str, *, ttl: str = "5m", labels: Mapping[str, str] | None = None, owners: Any = None, **facts: Any
) -> Object:
    """A Reservation for pods of `app` with requests and constraints as `template` takes them, for koord-scheduler."""
    made = template(app, **{"scheduler": "koord-scheduler", **facts})
    owners = owners or [{"labelSelector": {"matchLabels": {"app": app}}}]
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"template": made, "owners": owners, "ttl": ttl, "allocateOnce": True},
    }


_RUNNING: Object = {
    "phase": "Running",
    "startTime": _BORN,
    "conditions": [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready", "ContainersReady")],
    "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}],
}


def _resources(named: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("__", "/").replace("_", "."): text for name, text in named.items()}


def _workload(kind: str, name: str, namespace: str, replicas: int, made: Object, app: str) -> Object:
    uid = f"{kind.lower()}-{namespace}-{name}"
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "uid": uid, "labels": {"app": app}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": made},
    }


def _running(owner: Object, name: str, where: str) -> Object:
    made = owner["spec"]["template"]
    metadata = {**made["metadata"], "name": name, "namespace": owner["metadata"]["namespace"]}
    metadata |= {"ownerReferences": [reference_to(owner)], "creationTimestamp": _BORN}
    spec = {"restartPolicy": "Always", **made["spec"], "nodeName": where}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": _RUNNING}


LOWEST = priority_class("descheduler-placeholder", -1_000_000_000)
"""The class of placeholders, below every other pod."""
TAINTED = node("n1", taints=["gone=soon:NoSchedule"])
"""The node `n1`, on which no pod may be any more."""
