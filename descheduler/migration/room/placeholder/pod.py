"""The pod that holds the room of a replacement: it asks for as much, may go where that may go, and does nothing.

It has none of the labels of the pod: a Service would send it requests, a budget would count it, a ReplicaSet would
adopt it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.migration.room.labels import labels_of, placeholder_name_of
from descheduler.migration.room.placement_away import keep_away, keep_on
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.quantity import format_quantity
from descheduler.model.requests import ResourceList

__all__ = ["CONTAINER", "PlaceholderSettings", "placeholder_of"]

CONTAINER = "placeholder"
"""The name of its only container."""

_PLACED_BY = ("schedulerName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
"""The fields of a pod's spec that placement goes by, but for what it asks for."""
_LABELS = {"app.kubernetes.io/managed-by": "descheduler", "sidecar.istio.io/inject": "false"}
_ANNOTATIONS = {"linkerd.io/inject": "disabled"}
"""A sidecar would ask for more than the replacement does, and have the pod look like one that does something."""


class PlaceholderSettings(msgspec.Struct, frozen=True):
    """`image` does nothing for ever; the PriorityClass is below that of every pod to replace, and preempts no pod."""

    image: str = "registry.k8s.io/pause:3.10"
    priority_class: str = PLACEHOLDER_CLASS


def placeholder_of(
    job: MigrationJob, pod: Mapping[str, Any], requests: ResourceList, settings: PlaceholderSettings, owner: str
) -> dict[str, Any]:
    """The placeholder for `job` of `owner`; `pod` is the JSON of the pod that leaves, `requests` its own, in nano.

    It can be scheduled onto the node alone on which the job wants room, if it names one. Raises CannotHold for what no
    node can be called.
    """
    spec = {field: pod["spec"][field] for field in _PLACED_BY if pod["spec"].get(field)}
    keep_away(pod["spec"].get("nodeName", ""), spec)
    keep_on(job.held_on, spec)
    amounts = {name: format_quantity(amount) for name, amount in sorted(requests.items()) if name != "pods"}
    container = {
        "name": CONTAINER,
        "image": settings.image,
        "resources": {"requests": amounts, "limits": amounts},
        "ports": _host_ports(pod["spec"]),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": placeholder_name_of(job.uid),
            "namespace": job.pod_namespace,
            "labels": {**labels_of(job.uid, owner), **_LABELS},
            "annotations": _ANNOTATIONS,
        },
        "spec": {
            **spec,
            "priorityClassName": settings.priority_class,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65535,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    }


def _host_ports(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = ("containerPort", "hostPort", "hostIP", "protocol")
    containers = spec.get("containers") or ()
    ports = (port for container in containers for port in container.get("ports") or () if port.get("hostPort"))
    return [{field: port[field] for field in fields if port.get(field)} for port in ports]
