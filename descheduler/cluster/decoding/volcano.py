"""Queues, PodGroups and Jobs of Volcano, from the bytes of the API to model values."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.blocks import AnnotationReader, decode_labels, decode_owners, decode_quantities
from descheduler.cluster.decoding.wire import ABSENT, Int32, ObjectReader, Wire, set_time
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.groups.volcano import (
    VOLCANO_ANNOTATIONS,
    LifecyclePolicy,
    NodeGroups,
    VolcanoJob,
    VolcanoPodGroup,
    VolcanoQueue,
    VolcanoTask,
)


class _Guarantee(Wire):
    resource: msgspec.Raw = ABSENT


class _NodeGroups(Wire):
    required: list[str] | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: list[str] | None = msgspec.field(default=None, name="preferredDuringSchedulingIgnoredDuringExecution")


class _Affinity(Wire):
    node_group_affinity: _NodeGroups | None = None
    node_group_anti_affinity: _NodeGroups | None = None

    def node_groups(self) -> NodeGroups:
        """All lists together."""
        own, anti = self.node_group_affinity or _NodeGroups(), self.node_group_anti_affinity or _NodeGroups()
        lists = (own.required, own.preferred, anti.required, anti.preferred)
        return NodeGroups(*(frozenset(names or ()) for names in lists))


class _Spec(Wire):
    min_member: Int32 | None = None
    min_task_member: dict[str, Int32] | None = None
    queue: str | None = None
    priority_class_name: str | None = None
    min_resources: msgspec.Raw = ABSENT
    weight: Int32 | None = None
    priority: Int32 | None = None
    capability: msgspec.Raw = ABSENT
    deserved: msgspec.Raw = ABSENT
    guarantee: _Guarantee | None = None
    reclaimable: bool | None = None
    parent: str | None = None
    affinity: _Affinity | None = None


class _Condition(Wire):
    type: str | None = None
    status: str | None = None
    reason: str | None = None


class _Status(Wire):
    phase: str | None = None
    state: str | None = None
    conditions: list[_Condition] | None = None


_read = ObjectReader(_Spec, _Status)
_annotations = AnnotationReader(AnnotationKeys(VOLCANO_ANNOTATIONS))


def decode_volcano_pod_group(block: bytes) -> VolcanoPodGroup:
    """One PodGroup of `scheduling.volcano.sh`."""
    metadata, spec, status = _read(block)
    return VolcanoPodGroup(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        min_member=spec.min_member or 0,
        annotations=_annotations.read(metadata.annotations),
        created_at=set_time(metadata.creation_timestamp),
        api_group="scheduling.volcano.sh",
        min_task_member=spec.min_task_member or {},
        uid=metadata.uid or "",
        labels=decode_labels(bytes(metadata.labels)),
        queue=spec.queue or "default",
        priority_class_name=spec.priority_class_name or "",
        min_resources=None if spec.min_resources == ABSENT else decode_quantities(bytes(spec.min_resources)),
        phase=status.phase or "",
        conditions=tuple(
            [(each.type or "", each.reason or "") for each in status.conditions or () if each.status == "True"]
        ),
    )


def decode_volcano_queue(block: bytes) -> VolcanoQueue:
    metadata, spec, status = _read(block)
    return VolcanoQueue(
        name=metadata.name or "",
        uid=metadata.uid or "",
        created_at=set_time(metadata.creation_timestamp),
        annotations=_annotations.read(metadata.annotations),
        weight=spec.weight or 1,
        priority=spec.priority or 0,
        capability=decode_quantities(bytes(spec.capability)),
        guarantee=decode_quantities(bytes((spec.guarantee or _Guarantee()).resource)),
        deserved=decode_quantities(bytes(spec.deserved)),
        reclaimable=spec.reclaimable is not False,
        parent=spec.parent or "",
        state=status.state or "",
        node_groups=(spec.affinity or _Affinity()).node_groups(),
    )


class _Policy(Wire):
    action: str | None = None
    event: str | None = None
    events: list[str] | None = None


class _Task(Wire):
    name: str | None = None
    replicas: Int32 | None = None
    policies: list[_Policy] | None = None


class _JobSpec(Wire):
    max_retry: Int32 | None = None
    policies: list[_Policy] | None = None
    tasks: list[_Task] | None = None


class _JobState(Wire):
    phase: str | None = None


class _JobStatus(Wire):
    state: _JobState | None = None
    retry_count: Int32 | None = None


_MAX_RETRY = 3
"""What the webhook of Volcano sets."""
_read_job = ObjectReader(_JobSpec, _JobStatus)


def decode_volcano_job(block: bytes) -> VolcanoJob:
    """One Job of `batch.volcano.sh`."""
    metadata, spec, status = _read_job(block)
    tasks = {task.name or "": VolcanoTask(task.replicas, _policies(task.policies)) for task in spec.tasks or ()}
    return VolcanoJob(
        kind="Job",
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        uid=metadata.uid or "",
        replicas=sum(task.replicas or 0 for task in tasks.values()),
        owners=decode_owners(bytes(metadata.owner_references)),
        is_deleting=metadata.deletion_timestamp is not None,
        policies=_policies(spec.policies),
        tasks=tasks,
        max_retry=_MAX_RETRY if spec.max_retry is None else spec.max_retry,
        num_restarts=status.retry_count or 0,
        phase=(status.state or _JobState()).phase or "",
    )


def _policies(wires: list[_Policy] | None) -> tuple[LifecyclePolicy, ...]:
    return tuple(
        LifecyclePolicy(wire.action or "", frozenset(filter(None, (wire.event, *(wire.events or ())))))
        for wire in wires or ()
    )
