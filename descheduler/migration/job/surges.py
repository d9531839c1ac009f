"""Surges on the wire: what is to be scaled is found out, scaled up, and scaled back exactly once.

The API server keeps who has set the replicas of a workload (`metadata.managedFields`). A surge sets them in the name of
its job, so that any run can tell its own number from that of others, and takes back nothing but its own. Each write
states the resource version that was looked at: what others change in between is never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from descheduler.kube.errors import KindAbsent
from descheduler.kube.evict import EvictionClient, EvictionResponse
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.job.scaled import SURGING_MANAGER, Scaled, decode_scaled, owner_path
from descheduler.migration.job.seen import UNSEEN, Scale
from descheduler.migration.job.surge import LOWEST_COST, RAISED, SINGLE, Surge, surge_of
from descheduler.migration.managed_fields import ManagedFields, managers_of
from descheduler.migration.pods import pod_path
from descheduler.model.koordinator.eviction_annotations import DELETION_COST_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

_MANAGER = "descheduler"
_MOST_TRIES = 5
"""Status updates change the resource version too, a few times after each change of the spec."""


class Surges:
    """Calls for the surges of jobs. Safe to use from several threads, each with another job. Raises ExchangeError."""

    def __init__(self, objects: ObjectCalls) -> None:
        self._objects = objects
        self._has_marked: set[str] = set()
        """UIDs of the jobs whose pods this run has marked."""

    def plan(self, surge: Surge, pod: Pod) -> Surge:
        """What is to be scaled for the move of `pod`, or why nothing is."""
        if obstacle := _obstacle_of_pod(pod):
            return surge.decline(obstacle)
        found = self._workload_of(pod)
        if isinstance(found, str):
            return surge.decline(found)
        if found.replicas != SINGLE:
            # Two may be the surge of another policy, or may have been one a moment ago.
            may_be_single = found.replicas == RAISED and (found.is_surged or not found.is_settled)
            return Surge(surge.is_required and may_be_single, declined=found.obstacle())
        if obstacle := self._obstacle(found):
            return surge.decline(obstacle)
        return Surge(surge.is_required, found.kind, found.name, found.uid)

    def look(self, job: MigrationJob, pod: Pod | None) -> Scale:
        """The workload that the job has planned to scale, as it is now; `pod` has the name of its pod.

        Anybody who may change the job can have written which one that is: no other than that of the pod is scaled.
        """
        surge = surge_of(job)
        if surge is None or not surge.is_planned:
            return UNSEEN
        found = self._read(surge, job)
        if found is None:
            return Scale(obstacle=f"{surge.kind} {surge.name} does not exist any more")
        is_raised = found.is_raised_by(_manager_of(job), surge)
        is_over = is_raised or job.has(JobConditionType.SURGED)
        obstacle = "" if is_over else self._obstacle(found) or self._why_not_of(found, pod)
        return Scale(found.replicas, is_raised, found.is_settled, obstacle)

    def raise_replicas(self, job: MigrationJob) -> None:
        """One replica more, unless anything has changed; a look tells what came of it."""
        surge = surge_of(job)
        found = None if surge is None else self._read(surge, job)
        if found is not None and not found.obstacle():
            self._set(found, RAISED, _manager_of(job))

    def lower_replicas(self, job: MigrationJob) -> None:
        """The former replicas, where they are still raised by the job. Raises ExchangeError when that fails."""
        for _ in range(_MOST_TRIES):
            found = self._raised(job)
            if found is None or self._set(found, SINGLE, _MANAGER):
                return
        surge = surge_of(job) or Surge()
        raise ExchangeError(
            f"{surge.kind} {surge.name} keeps changing, and could not be scaled back to {SINGLE} replica"
        )

    def take_back(self, job: MigrationJob) -> None:
        """Takes back what was done for the surge of `job`, as far as it still stands: the pod stays."""
        surge = surge_of(job)
        if surge is None or not surge.is_planned:
            return
        self._unmark(job)
        self.lower_replicas(job)

    def _unmark(self, job: MigrationJob) -> None:
        """Takes the mark from the pod of `job`, if it is that of the job: users may give a pod the lowest cost too."""
        if not (is_object_name(job.pod_namespace) and is_object_name(job.pod_name)):
            return
        path = pod_path(job.pod_namespace, job.pod_name)
        mark = self._objects.read(path, decode_mark)
        has_set = job.uid in self._has_marked
        if mark is not None and mark.uid == job.pod_uid and mark.is_set_by(_manager_of(job), has_set=has_set):
            unmarked = {"metadata": {"uid": mark.uid, "annotations": {DELETION_COST_ANNOTATION: None}}}
            self._objects.patch(path, unmarked, bytes)

    def scale_back(
        self, job: MigrationJob, port: EvictionClient, eviction: PlannedEviction, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        """The response to what has the old pod leave: the first that refuses, else that to the new replicas.

        The eviction API is asked first whether the pod may go, with nothing evicted: a budget counts as ever. None
        where `may_send` withheld a call, or the replicas are not those of the job any more.
        """
        allowed = port.try_evict(eviction.namespace, eviction.name, uid=eviction.uid, may_send=may_send)
        if not _is_done(allowed):
            return allowed
        cost = {DELETION_COST_ANNOTATION: LOWEST_COST}
        self._has_marked.add(job.uid)
        marked = port.annotate(
            eviction.namespace, eviction.name, cost, uid=eviction.uid, manager=_manager_of(job), may_send=may_send
        )
        return self._scaled_back(job, port, may_send) if _is_done(marked) else marked

    def _scaled_back(
        self, job: MigrationJob, port: EvictionClient, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        response: EvictionResponse | None = None
        for _ in range(_MOST_TRIES):
            found = self._raised(job)
            if found is None:  # somebody else has set the replicas meanwhile; the next look tells what that means
                return None
            response = port.scale(_scale_path(found), _wanted(found, SINGLE), manager=_MANAGER, may_send=may_send)
            if response is None or response.status_code != 409:
                break
        return response

    def _raised(self, job: MigrationJob) -> Scaled | None:
        """What is scaled for `job`, while its replicas are raised by it."""
        surge = surge_of(job)
        found = None if surge is None or not surge.is_planned else self._read(surge, job)
        return found if surge and found and found.is_raised_by(_manager_of(job), surge) else None

    def _why_not_of(self, found: Scaled, pod: Pod | None) -> str:
        """What says that another workload decides the replicas of `pod`, "" where it is `found`."""
        own = None if pod is None else self._workload_of(pod)
        is_own = isinstance(own, Scaled) and own.uid == found.uid
        return "" if pod is None or is_own else f"{found.text} is not the workload of pod {pod.key}"

    def _read(self, surge: Surge, job: MigrationJob) -> Scaled | None:
        if not (is_object_name(job.pod_namespace) and is_object_name(surge.name)):
            return None
        found = self._objects.read(owner_path(surge.kind, job.pod_namespace, surge.name), decode_scaled)
        return found if found is not None and found.uid == surge.uid else None

    def _workload_of(self, pod: Pod) -> Scaled | str:
        """What decides the replicas of `pod`, or why that cannot be scaled."""
        controller = pod.controller
        if controller is None or (controller.kind, controller.api_version) != ("ReplicaSet", "apps/v1"):
            return "its owner is not a ReplicaSet"
        found = self._objects.read(owner_path("ReplicaSet", pod.namespace, controller.name), decode_scaled)
        if found is None or found.controller is None or found.controller[0] != "Deployment":
            return found or f"ReplicaSet {controller.name} does not exist any more"
        path = owner_path("Deployment", pod.namespace, found.controller[1])
        return self._objects.read(path, decode_scaled) or f"Deployment {found.controller[1]} does not exist any more"

    def _obstacle(self, found: Scaled) -> str:
        """What blocks raising the replicas, "" while nothing does."""
        if obstacle := found.obstacle():
            return obstacle
        autoscaler = autoscaler_of(self._objects, found.namespace, found.kind, found.name)
        return f"HorizontalPodAutoscaler {autoscaler} sets the replicas of {found.text}" if autoscaler else ""

    def _set(self, found: Scaled, replicas: int, manager: str) -> bool:
        """Whether it has `replicas` now; False when it was changed meanwhile, or is gone."""
        query = {"fieldManager": manager}
        return self._objects.patch(_scale_path(found), _wanted(found, replicas), bytes, query=query) is not None


def _obstacle_of_pod(pod: Pod) -> str:
    if pod.claim_names or pod.ephemeral_volumes:
        return f"pod {pod.key} has PersistentVolumeClaims, which a second pod can possibly not mount"
    if DELETION_COST_ANNOTATION in pod.annotations:
        return f"pod {pod.key} has a deletion cost of its own (annotation {DELETION_COST_ANNOTATION})"
    return ""


def _manager_of(job: MigrationJob) -> str:
    """In whose name the replicas are raised: that of no other job."""
    return f"{SURGING_MANAGER}{job.uid}"


def _scale_path(found: Scaled) -> str:
    return f"{owner_path(found.kind, found.namespace, found.name)}/scale"


def _wanted(found: Scaled, replicas: int) -> dict[str, Any]:
    """The patch of the subresource `scale`, whose UID and resource version are those of the workload."""
    metadata = {"uid": found.uid, "resourceVersion": found.resource_version}
    return {"metadata": metadata, "spec": {"replicas": replicas}}


def _is_done(response: EvictionResponse | None) -> bool:
    return response is not None and 200 <= response.status_code < 300 and response.is_told


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _Metadata(_Wire):
    uid: str
    annotations: dict[str, str] | None = None
    managed_fields: list[ManagedFields] | None = None


class _Pod(_Wire):
    metadata: _Metadata


_decode_pod = msgspec.json.Decoder(_Pod).decode


class DeletionCostMark(msgspec.Struct, frozen=True):
    """The deletion cost of the pod with this UID, "" for none; `set_by` are the field managers that have stated it."""

    uid: str
    cost: str
    set_by: frozenset[str]

    def is_set_by(self, manager: str, *, has_set: bool) -> bool:
        """Whether it is the mark that `manager` has set, and no other manager has stated it.

        `has_set` decides where the API server does not tell who has.
        """
        if self.cost != LOWEST_COST:
            return False
        return self.set_by == {manager} if self.set_by else has_set


def decode_mark(block: bytes) -> DeletionCostMark:
    """The mark of the pod of these bytes."""
    metadata = _decode_pod(block).metadata
    set_by = managers_of(("metadata", "annotations", DELETION_COST_ANNOTATION), metadata.managed_fields)
    return DeletionCostMark(
        metadata.uid, (metadata.annotations or {}).get(DELETION_COST_ANNOTATION, ""), frozenset(set_by)
    )


class _AutoscalerMetadata(msgspec.Struct):
    name: str


class _AutoscalerTarget(msgspec.Struct):
    kind: str
    name: str


class _AutoscalerSpec(msgspec.Struct, rename="camel"):
    scale_target_ref: _AutoscalerTarget


class _Autoscaler(msgspec.Struct):
    metadata: _AutoscalerMetadata
    spec: _AutoscalerSpec


_decode_autoscaler = msgspec.json.Decoder(_Autoscaler).decode


def autoscaler_of(objects: ObjectCalls, namespace: str, kind: str, name: str) -> str:
    """The name of a HorizontalPodAutoscaler of this workload, "" where it has none. Raises ExchangeError.

    Other autoscalers, such as KEDA's, work through these.
    """
    path = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    try:
        found = objects.list(path, _decode_autoscaler)
    except KindAbsent:
        return ""
    names = (each.metadata.name for each in found if each.spec.scale_target_ref == _AutoscalerTarget(kind, name))
    return next(names, "")
