"""Builders of Kubernetes objects with good defaults: one line for each fact that matters.

Further fields of a pod's spec are keywords by their API names: `deployment("web", "shop", schedulerName="other")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.kube_api import Object

BEHAVIOUR = "descheduler.test/behaviour"
READY_AFTER = "descheduler.test/ready-after"
RUNS_FOR = "descheduler.test/runs-for"
STOPS = "descheduler.test/stops"
"""Annotations of pods (`BEHAVIOUR` also of nodes) that the stages understand; see `stages/`."""

ZONE = "topology.kubernetes.io/zone"


def node(
    name: str,
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    zone: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    resources: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A node whose capacity is all allocatable; `resources` are extended ones, `spec` holds taints and the like."""
    capacity = {"cpu": cpu, "memory": memory, "pods": str(pods), **(resources or {})}
    places = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **({ZONE: zone} if zone else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**places, **(labels or {})}, "annotations": dict(annotations or {})},
        "spec": spec,
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def namespace(name: str, **labels: str) -> Object:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pod(
    name: str,
    namespace: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    cpu: str = "100m",
    memory: str = "64Mi",
    **spec: Any,
) -> Object:
    """A pod without an owner, labelled `app: <name>`."""
    metadata = {"name": name, "namespace": namespace, **_marks(name, labels, annotations)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod_spec(cpu, memory, spec)}


def deployment(name: str, namespace: str, *, replicas: int = 1, **template: Any) -> Object:
    """A deployment of pods labelled `app: <name>`; `template` are the keywords of `pod`."""
    return _workload("apps/v1", "Deployment", name, namespace, template, replicas=replicas)


def stateful_set(name: str, namespace: str, *, replicas: int = 1, **template: Any) -> Object:
    """A stateful set that starts its pods one after the other; `template` as for `deployment`."""
    return _workload("apps/v1", "StatefulSet", name, namespace, template, replicas=replicas, serviceName=name)


def daemon_set(name: str, namespace: str, **template: Any) -> Object:
    """A daemon set; `template` as for `deployment`."""
    return _workload("apps/v1", "DaemonSet", name, namespace, template)


def job(name: str, namespace: str, *, completions: int = 1, parallelism: int = 1, **template: Any) -> Object:
    """A job whose pods are not started again; `template` as for `deployment`."""
    made = _workload("batch/v1", "Job", name, namespace, {"restartPolicy": "Never", **template})
    del made["spec"]["selector"]  # the controller makes a unique one
    made["spec"] |= {"completions": completions, "parallelism": parallelism}
    return made


def disruption_budget(name: str, namespace: str, **spec: Any) -> Object:
    """A budget over the pods labelled `app: <name>`; `minAvailable` or `maxUnavailable` go into `spec`."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": name}}, **spec},
    }


def priority_class(name: str, value: int, *, preempts: bool = True) -> Object:
    """A priority class."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
    }


def _workload(version: str, kind: str, name: str, namespace: str, template: Mapping[str, Any], **spec: Any) -> Object:
    made = pod(name, namespace, **template)
    marks = {key: made["metadata"][key] for key in ("labels", "annotations")}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": marks["labels"]},
        "spec": {
            **spec,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": marks, "spec": made["spec"]},
        },
    }


def _marks(app: str, labels: Mapping[str, str] | None, annotations: Mapping[str, str] | None) -> Object:
    return {"labels": {"app": app, **(labels or {})}, "annotations": dict(annotations or {})}


def _pod_spec(cpu: str, memory: str, spec: Mapping[str, Any]) -> Object:
    container = {
        "name": "main",
        "image": "registry.test/simulated:1",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }
    return {"containers": [container], **spec}
