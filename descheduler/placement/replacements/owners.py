"""What the owners of pods do once one is evicted: whether, when and from which revision they replace it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import Workload
from descheduler.model.pod import Pod

__all__ = ["Owners", "Returns", "returns_of", "why_unmovable"]

Returns = Literal["at once", "when gone"]

STATEFUL_SET = "StatefulSet"
JOB = "Job"
_ORDERED = ("", "OrderedReady")


def why_unmovable(victim: Pod) -> str:
    """Why evicting `victim` moves nothing, or an empty string."""
    owner = victim.controller
    if owner is not None and owner.kind == "DaemonSet":
        return "its DaemonSet recreates the pod on the same node"
    if victim.is_mirror or victim.is_static or (owner is not None and owner.kind == "Node"):
        return "it is a static pod, which the kubelet of its node runs"
    if victim.is_terminating:
        return "it is already being deleted"
    return "" if victim.node_name else "it is not scheduled yet"


class Owners:
    """The workloads of one snapshot, as the makers of replacements."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def workload_of(self, victim: Pod) -> Workload | None:
        """The controller of `victim`, None when there is none or it was not read."""
        owner = victim.controller
        return None if owner is None else self._snapshot.workloads.get(owner.uid)

    def wants_no_more(self, victim: Pod, workload: Workload, num_gone: int) -> bool:
        """Whether `workload` lets `victim` go without a successor, `num_gone` of its pods having gone before."""
        if workload.is_deleting:
            return True
        num_surplus = self._active_pods[workload.uid] - workload.replicas
        if workload.kind == STATEFUL_SET:
            # It scales down from the highest ordinal, and puts every other pod back in its place.
            return num_surplus > 0 and _ordinal(victim) >= workload.replicas
        return num_gone < num_surplus

    def newer_revision(self, workload: Workload) -> Workload | None:
        """The newest ReplicaSet of the Deployment that rolls out past the ReplicaSet `workload`, None without one."""
        return self._newer_by_uid.get(workload.uid)

    def notes(self, victim: Pod, workload: Workload) -> Iterator[str]:
        """What may keep the successor of `victim` away for a while, each a sentence."""
        if workload.kind == STATEFUL_SET and workload.pod_management_policy in _ORDERED:
            waits_for = self._first_unready.get(workload.uid)
            if waits_for is not None and _ordinal(waits_for) < _ordinal(victim):
                yield f"StatefulSet {workload.name} waits until pod {waits_for.name} is ready"
        elif workload.kind == JOB:
            yield f"Job {workload.name} may count the eviction against its backoffLimit"

    @cached_property
    def _active_pods(self) -> Counter[str]:
        """Controller UID → pods that have neither finished nor begun to go."""
        controllers = (pod.controller for pod in self._snapshot.pods if not pod.is_terminal and pod.deleted_at is None)
        return Counter(owner.uid for owner in controllers if owner is not None)

    @cached_property
    def _newer_by_uid(self) -> Mapping[str, Workload]:
        """UID of a ReplicaSet → the newest one of its Deployment, for those that are older."""
        newest = self._newest_by_deployment
        found = ((workload, newest.get(_controller_uid(workload))) for workload in self._snapshot.workloads.values())
        return {old.uid: new for old, new in found if new is not None and new.revision > old.revision}

    @cached_property
    def _newest_by_deployment(self) -> Mapping[str, Workload]:
        newest: dict[str, Workload] = {}
        for workload in self._snapshot.workloads.values():
            uid = _controller_uid(workload)
            if uid and workload.kind == "ReplicaSet":
                known = newest.get(uid)
                if known is None or workload.revision > known.revision:
                    newest[uid] = workload
        return newest

    @cached_property
    def _first_unready(self) -> Mapping[str, Pod]:
        """UID of a StatefulSet → of its pods that are not ready, or not for long, the one of the lowest ordinal."""
        found: dict[str, Pod] = {}
        for pod in self._snapshot.pods:
            owner = pod.controller
            if owner is not None and owner.kind == STATEFUL_SET and (not pod.is_ready or pod.is_terminating):
                known = found.get(owner.uid)
                if known is None or _ordinal(pod) < _ordinal(known):
                    found[owner.uid] = pod
        return found


def returns_of(workload: Workload) -> Returns:
    """When the successor of a pod is created: as soon as it is terminating, or once it is gone."""
    if workload.kind == STATEFUL_SET:
        return "when gone"  # the successor has the same name
    if workload.kind == JOB and workload.pod_replacement_policy == "Failed":
        return "when gone"
    return "at once"


def _controller_uid(workload: Workload) -> str:
    return next((owner.uid for owner in workload.owners if owner.controller and owner.kind == "Deployment"), "")


def _ordinal(pod: Pod) -> int:
    """The number at the end of a pod's name, -1 without one."""
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 12 else -1
