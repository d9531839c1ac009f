"""Small builders with good defaults: one argument for each fact that matters to a test.

`pod_object` and `node_object` give Kubernetes objects as dicts, `make_pod` and `make_node` the values decoded from
them, and `make_snapshot` and `make_view` put values together to a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from descheduler.cluster.decoding.decode import NodeDecoder, PodDecoder
from descheduler.cluster.decoding.wire import NodeWire, PodWire
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import selector_from_object

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
"""The instant of every test."""

Object = dict[str, Any]

# One decoder for all: equal parts are one value, as they are within a snapshot.
_pods = PodDecoder()
_nodes = NodeDecoder()


def ago(seconds: float) -> str:
    """The instant `seconds` before NOW as Kubernetes writes it; negative seconds lie in the future."""
    return (NOW - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


_GROUPS = {
    "Job": "batch/v1",
    "Node": "v1",
    "ReplicationController": "v1",
    "CloneSet": "apps.kruise.io/v1alpha1",
    "Workflow": "argoproj.io/v1alpha1",
}


def owner(kind_and_name: str, *, uid: str | None = None, controller: bool = True, group: str | None = None) -> Object:
    """An owner reference from `Kind/name`; its UID is made from both unless given, its group is that of the kind."""
    kind, _, name = kind_and_name.partition("/")
    return {
        "apiVersion": _GROUPS.get(kind, "apps/v1") if group is None else group,
        "kind": kind,
        "name": name,
        "uid": f"{kind}-{name}".lower() if uid is None else uid,
        "controller": controller,
    }


def container_status(
    restarts: int = 0, *, waiting: str | None = None, terminated: str | None = None, exit_code: int = 0
) -> Object:
    """A container status in one current state: waiting or terminated with a reason, else running."""
    if waiting is not None:
        state: Object = {"waiting": {"reason": waiting}}
    elif terminated is not None:
        state = {"terminated": {"reason": terminated, "exitCode": exit_code}}
    else:
        state = {"running": {}}
    return {"name": "main", "restartCount": restarts, "state": state}


def required_anti_affinity(labels: Mapping[str, str], *, key: str = "kubernetes.io/hostname", **term: object) -> Object:
    """An `affinity` that keeps away from pods with `labels`, per domain of the topology `key`."""
    terms = [{"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": key, **term}]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def required_node_affinity(key: str, *values: str) -> Object:
    """An `affinity` that asks for nodes whose label `key` has one of `values`."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def preferred_node_affinity(*preferences: tuple[str, str, int]) -> Object:
    """An `affinity` that prefers nodes by (label key, label value, weight)."""
    terms = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}}
        for key, value, weight in preferences
    ]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def pod_object(
    name: str,
    *,
    namespace: str = "default",
    node: str = "a",
    cpu: str | None = None,
    memory: str | None = None,
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owners: Sequence[str | Object] = ("ReplicaSet/web",),
    phase: str = "Running",
    priority: int | None = None,
    age: float | None = 3600,
    started: float | None = 3600,
    deleted: float | None = None,
    uid: str | None = None,
    claims: Sequence[str] = (),
    volumes: Sequence[Object] = (),
    affinity: Object | None = None,
    tolerations: Sequence[Object] = (),
    node_selector: Mapping[str, str] | None = None,
    spread: Sequence[Object] = (),
    scheduler: str = "default-scheduler",
    images: Sequence[str] = ("app:1",),
    ready: bool = True,
    conditions: Sequence[Object] = (),
    containers: Sequence[Object] = (),
    init_containers: Sequence[Object] = (),
    ephemeral_containers: Sequence[Object] = (),
    reason: str | None = None,
    spec: Object | None = None,
) -> Object:
    """A running, ready pod of ReplicaSet `web` on node `a`, an hour old, without requests.

    `age`, `started` and `deleted` are seconds before NOW; `containers` and the like are container statuses; owners are
    `Kind/name` or whole references, `()` makes a bare pod; `spec` is merged into the spec last.
    """
    asked = dict(requests or {}) | ({"cpu": cpu} if cpu else {}) | ({"memory": memory} if memory else {})
    resources = {"requests": asked, "limits": dict(limits or {})}
    mounts = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return _without_none(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"{namespace}-{name}" if uid is None else uid,
                "creationTimestamp": None if age is None else ago(age),
                "deletionTimestamp": None if deleted is None else ago(deleted),
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [owner(o) if isinstance(o, str) else o for o in owners],
            },
            "spec": {
                "nodeName": node,
                "schedulerName": scheduler,
                "priority": priority,
                "containers": [
                    {"name": f"c{index}", "image": image, "resources": resources if index == 0 else {}}
                    for index, image in enumerate(images)
                ],
                "volumes": [*mounts, *volumes] or None,
                "affinity": affinity,
                "tolerations": list(tolerations) or None,
                "nodeSelector": node_selector,
                "topologySpreadConstraints": list(spread) or None,
                **(spec or {}),
            },
            "status": {
                "phase": phase,
                "reason": reason,
                "startTime": None if started is None else ago(started),
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}, *conditions],
                "containerStatuses": list(containers),
                "initContainerStatuses": list(init_containers),
                "ephemeralContainerStatuses": list(ephemeral_containers),
            },
        }
    )


def node_object(
    name: str,
    *,
    cpu: str | None = "4",
    memory: str | None = "8Gi",
    pods: str | None = "110",
    allocatable: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Iterable[str] = (),
    unschedulable: bool = False,
    ready: bool = True,
    conditions: Iterable[str] = (),
) -> Object:
    """A ready node with 4 cores, 8 GiB and room for 110 pods, labelled with its host name.

    `taints` are written `key=value:Effect` or `key:Effect`; `allocatable` adds to or replaces the three resources.
    """
    base = {"cpu": cpu, "memory": memory, "pods": pods}
    resources = {key: text for key, text in base.items() if text is not None} | dict(allocatable or {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"node-{name}",
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
            "annotations": dict(annotations or {}),
        },
        "spec": {"unschedulable": unschedulable, "taints": [_taint(text) for text in taints]},
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [
                {"type": "Ready", "status": "True" if ready else "False"},
                *({"type": kind, "status": "True"} for kind in conditions),
            ],
        },
    }


def make_pod(name: str, **facts: Any) -> Pod:
    """The pod that `pod_object` describes, decoded."""
    return decode_pod(pod_object(name, **facts))


def make_node(name: str, **facts: Any) -> Node:
    """The node that `node_object` describes, decoded."""
    return decode_node(node_object(name, **facts))


def decode_pod(pod: Mapping[str, object]) -> Pod:
    """A pod from its Kubernetes object."""
    return _pods.decode(msgspec.json.decode(json.dumps(pod), type=PodWire))


def decode_node(node: Mapping[str, object]) -> Node:
    """A node from its Kubernetes object."""
    return _nodes.decode(msgspec.json.decode(json.dumps(node), type=NodeWire))


def make_budget(name: str, labels: Mapping[str, str], *, namespace: str = "default", **facts: Any) -> DisruptionBudget:
    """A budget over the pods with `labels`; other facts are fields of `DisruptionBudget`."""
    return DisruptionBudget(namespace, name, selector_from_object({"matchLabels": dict(labels)}), **facts)


def make_snapshot(nodes: Iterable[Node] = (), pods: Iterable[Pod] = (), **others: Any) -> Snapshot:
    """A snapshot of `nodes` and `pods`, put in order; others are fields of `Snapshot`."""
    return Snapshot(
        nodes=tuple(sorted(nodes, key=lambda node: node.name)),
        pods=tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name))),
        **others,
    )


def make_view(
    nodes: Iterable[Node] = (), pods: Iterable[Pod] = (), *, moves_take_effect: bool = False, **others: Any
) -> ClusterView:
    """A view cluster over `make_snapshot` of the same arguments."""
    return ClusterView(make_snapshot(nodes, pods, **others), moves_take_effect=moves_take_effect)


def _taint(text: str) -> Object:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _without_none(fields: Mapping[str, Any]) -> Object:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in fields.items()
        if value is not None
    }
