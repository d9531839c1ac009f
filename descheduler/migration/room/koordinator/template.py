"""The Reservation that holds the room of a job.

Source: koordinator 1.8 `pkg/descheduler/controllers/migration/reservation/util.go`, but for the pod template, of which
only what placement goes by is taken over: what a scheduler has written on the old pod, its owners and its
identity would be wrong of the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from descheduler.migration.room.labels import labels_of
from descheduler.migration.room.placement_away import keep_away, keep_on
from descheduler.migration.room.provider import CannotHoldNow
from descheduler.model.annotations import (
    CPU_SPEC_ANNOTATION,
    DEVICE_HINT_ANNOTATION,
    GPU_PARTITION_SPEC_ANNOTATION,
    JOINT_DEVICES_ANNOTATION,
    NUMA_SPEC_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.text.duration import format_duration

KIND = "Reservation"
API_VERSION = "scheduling.koordinator.sh/v1alpha1"
CREATED_BY_LABEL = "app.kubernetes.io/created-by"
CREATED_BY = "koord-descheduler"
"""What tools of Koordinator look for."""
ORDER_LABEL = "scheduling.koordinator.sh/reservation-order"

_STATED_ANNOTATIONS = frozenset(
    {
        DEVICE_HINT_ANNOTATION,
        JOINT_DEVICES_ANNOTATION,
        GPU_PARTITION_SPEC_ANNOTATION,
        CPU_SPEC_ANNOTATION,
        NUMA_SPEC_ANNOTATION,
        "scheduling.koordinator.sh/reservation-affinity",
        "scheduling.koordinator.sh/exact-match-reservation",
    }
)
"""What a user asks of the scheduler; other annotations say what it did."""
_SERVICE_ACCOUNT_VOLUME = "kube-api-access-"
_TOLD = (
    *("env", "envFrom", "command", "args", "volumeMounts", "volumeDevices", "lifecycle"),
    *("livenessProbe", "readinessProbe", "startupProbe"),
)
"""Fields of a container that no scheduler looks at. Reservations are in no namespace, where more people may read."""


def reservation_of(job: MigrationJob, pod: Mapping[str, Any], owner: str, now: datetime) -> dict[str, Any]:
    """The Reservation for `job` of `owner`, named after its UID; `pod` is the JSON of the pod that is to leave.

    What the template of the job states stands. It can be scheduled onto the node alone on which the job wants room, if
    it names one. Raises CannotHold when nothing says who may use it, as such pods have no controller, and for what no
    node can be called. A template of another form raises AttributeError, LookupError, TypeError or ValueError.
    """
    stated: dict[str, Any] = deepcopy(dict(job.template))
    spec: dict[str, Any] = stated.get("spec") or {}
    metadata: dict[str, Any] = stated.get("metadata") or {}
    if not spec.get("template"):
        spec["template"] = _pod_template(pod)
        if job.held_on:
            _go_first(spec["template"]["spec"])
    if not spec.get("owners"):
        spec["owners"] = _owners(pod)
    spec["allocateOnce"] = True
    if not spec.get("ttl") and not spec.get("expires") and job.ttl:
        spec["ttl"] = format_duration(job.ttl)
    placed = spec["template"].setdefault("spec", {})
    keep_away(pod["spec"].get("nodeName", ""), placed)
    keep_on(job.held_on, placed)
    labels = {**(metadata.get("labels") or {}), **_labels(job.uid, owner, now)}
    metadata |= {"name": metadata.get("name") or job.uid, "labels": labels}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def reservation_for_pending(
    pod: Mapping[str, Any], node: str, job_uid: str, name: str, owner: str, ttl: timedelta, now: datetime
) -> dict[str, Any]:
    """The Reservation `name` on `node` for `pod`, the JSON of a pending pod, which alone may use it.

    It is for the job of this UID, of `owner`. Raises CannotHold for what no node can be called.
    """
    template = _pod_template(pod)
    _go_first(template["spec"])
    keep_on(node, template["spec"])
    spec = {"template": template, "owners": [_that_very(pod)], "allocateOnce": True, "ttl": format_duration(ttl)}
    metadata = {"name": name, "labels": _labels(job_uid, owner, now)}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _labels(job_uid: str, owner: str, now: datetime) -> dict[str, str]:
    order = str(int(now.timestamp() * 1000))
    return {CREATED_BY_LABEL: CREATED_BY, ORDER_LABEL: order, **labels_of(job_uid, owner)}


def _go_first(spec: dict[str, Any]) -> None:
    """Has a Reservation on a chosen node, with this pod `spec`, scheduled before pods of the same priority that wait.

    They may wait for longer, and would take the room that the plan makes there. The priority of a Reservation in the
    queue of koord-scheduler is that of its pod template (koordinator 1.8, `pkg/util/reservation` `NewReservePod`), and
    the queue goes by priority first (kube-scheduler's PrioritySort, Koordinator's Coscheduling): pods of a higher
    priority still go before it. Nothing is ever preempted for it. Without the name of a class the number stands alone.
    """
    spec["priority"] = (spec.get("priority") or 0) + 1
    spec["preemptionPolicy"] = "Never"
    spec.pop("priorityClassName", None)


def _pod_template(pod: Mapping[str, Any]) -> dict[str, Any]:
    metadata, spec = pod["metadata"], deepcopy(dict(pod["spec"]))
    for field in ("nodeName", "ephemeralContainers", "hostname", "subdomain"):
        spec.pop(field, None)
    tokens = {v["name"] for v in spec.get("volumes") or () if v["name"].startswith(_SERVICE_ACCOUNT_VOLUME)}
    spec["volumes"] = [volume for volume in spec.get("volumes") or () if volume["name"] not in tokens]
    for container in [*spec.get("containers", ()), *(spec.get("initContainers") or ())]:
        # What a container is told is nobody's business here, and may be secret.
        for field in _TOLD:
            container.pop(field, None)
    annotations = {k: v for k, v in (metadata.get("annotations") or {}).items() if k in _STATED_ANNOTATIONS}
    return {
        "metadata": {
            "namespace": metadata["namespace"],
            "labels": dict(metadata.get("labels") or {}),
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": spec,
    }


def _owners(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    metadata = pod["metadata"]
    if _waits_for_a_node(pod):
        return [_that_very(pod)]
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            return [{"controller": {**owner, "namespace": metadata["namespace"]}}]
    raise CannotHoldNow("the pod has no controller that would create a replacement; use mode EvictDirectly")


def _that_very(pod: Mapping[str, Any]) -> dict[str, Any]:
    """The owner that is this pod and no other. Pods in the cache of koord-scheduler state no apiVersion."""
    metadata = pod["metadata"]
    return {"object": {"kind": "Pod", **{name: metadata[name] for name in ("uid", "name", "namespace")}}}


def _waits_for_a_node(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status") or {}
    conditions = status.get("conditions") or ()
    return status.get("phase") == "Pending" and any(
        condition.get("type") == "PodScheduled" and condition.get("status") == "False" for condition in conditions
    )
