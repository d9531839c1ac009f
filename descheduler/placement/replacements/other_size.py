"""Pods whose size admission has set, as VerticalPodAutoscaler does: the next one gets that size, or its template's."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.annotations import VPA_UPDATES_ANNOTATION
from descheduler.model.groups.workloads import PodRevision, Workload
from descheduler.model.pod import Pod

_HASH = "controller-revision-hash"

Revisions = Mapping[tuple[str, str], PodRevision]


def is_sized_by_autoscaler(victim: Pod) -> bool:
    """Whether VerticalPodAutoscaler has noted that it has set the requests of the pod at admission."""
    return VPA_UPDATES_ANNOTATION in victim.annotations


def of_other_size(victim: Pod, pod: Pod, workload: Workload, revisions: Revisions) -> Pod | None:
    """`pod`, which comes for `victim`, with the size of that, where admission has set it and may set it again."""
    if pod.spec.requests == victim.spec.requests:
        return None
    if not is_sized_by_autoscaler(victim) and not _is_sized_by_admission(victim, pod, workload, revisions):
        return None
    live = victim.spec
    spec = msgspec.structs.replace(
        pod.spec,
        containers=live.containers,
        init_containers=live.init_containers,
        images=live.images,
        init_images=live.init_images,
        requests=live.requests,
        qos_class=live.qos_class,
        scoring_requests=live.scoring_requests,
        incoming_scoring_requests=live.incoming_scoring_requests,
        pod_level_requests=live.pod_level_requests,
    )
    return msgspec.structs.replace(pod, spec=spec)


def _is_sized_by_admission(victim: Pod, pod: Pod, workload: Workload, revisions: Revisions) -> bool:
    """Whether nothing but admission can have made the difference: neither was the pod resized in place, which its next
    one does not inherit, nor can the template have been edited since. Admission takes no request away."""
    is_resized = victim.is_respecified or victim.resized is not None
    if is_resized or not pod.spec.requests.keys() <= victim.spec.requests.keys():
        return False
    match workload.kind:
        case "ReplicaSet":
            return any(owner.controller and owner.kind == "Deployment" for owner in workload.owners)
        case "StatefulSet":
            return bool(victim.labels.get(_HASH)) and victim.labels[_HASH] == pod.labels.get(_HASH)
        case "DaemonSet":
            return _is_of_newest_revision(victim, workload, revisions)
    return workload.kind == "Job"


def _is_of_newest_revision(victim: Pod, workload: Workload, revisions: Revisions) -> bool:
    """Whether the newest ControllerRevision of a DaemonSet is that of the pod; False where none was read."""
    own = [each for each in revisions.values() if each.owner_uid == workload.uid]
    newest = max(own, key=lambda each: each.number, default=None)
    return newest is not None and newest.name == f"{workload.name}-{victim.labels.get(_HASH, '')}"
