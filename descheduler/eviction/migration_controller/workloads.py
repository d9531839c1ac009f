"""Which workload a pod belongs to, how many replicas it wants, and how many of them may be away at once.

Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/controllerfinder` and
`.../migration/util`.
"""

from __future__ import annotations

from functools import cached_property

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner, Pod
from descheduler.plan.recent_moves import WorkloadId

_KINDS_BY_GROUP = {
    "apps": frozenset({"ReplicaSet", "Deployment", "StatefulSet"}),
    "": frozenset({"ReplicationController"}),
    "apps.kruise.io": frozenset({"CloneSet", "StatefulSet"}),
    "batch.volcano.sh": frozenset({"Job"}),
}
"""Controllers that state their replicas in their own spec."""


def allowed_at_once(replicas: int, share: int | str | None) -> int:
    """How many of `replicas` may migrate, or be unavailable, at the same time.

    `share` is a number or a percentage such as `10%`, rounded down and at least 1. Without it a tenth of more than ten
    replicas, 2 of four to ten, and 1 of fewer. Never above `replicas`, so 0 for a workload that is not known.
    """
    if share is None:
        allowed = replicas // 10 if replicas > 10 else 2 if replicas >= 4 else 1
    else:
        allowed = replicas * int(share.removesuffix("%")) // 100 if isinstance(share, str) else share
        allowed = allowed or 1
    return min(allowed, replicas)


def can_look_up(controller: Owner) -> bool:
    """Whether the replicas of such a controller are known where it exists.

    Others are asked for by the subresource `scale`, which is not read here and which a batch Job does not have. Nor has
    a Job of Volcano: Koordinator refuses its pods. Here the replicas of its tasks are read.
    """
    group, _, _ = controller.api_version.rpartition("/")
    return controller.kind in _KINDS_BY_GROUP.get(group, ())


class Workloads:
    """The workloads of one snapshot, found through controller owners."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._by_controller: dict[str, Workload | None] = {}
        self._unavailable: dict[str, frozenset[tuple[str, str]]] = {}

    def of(self, pod: Pod) -> Workload | None:
        """The workload that decides the replicas of `pod`: the Deployment behind a ReplicaSet, else the controller.

        None without a controller, for a kind that cannot be looked up, and for an object that is gone.
        """
        controller = pod.controller
        if controller is None:
            return None
        uid = controller.uid
        if uid not in self._by_controller:
            self._by_controller[uid] = self._find(controller)
        return self._by_controller[uid]

    def replicas_of(self, pod: Pod) -> int:
        """The replicas of the workload of `pod`, 0 where the workload is not known."""
        workload = self.of(pod)
        return 0 if workload is None else workload.replicas

    def unavailable(self, workload: Workload) -> frozenset[tuple[str, str]]:
        """Namespace and name of the pods of `workload` that have finished, are being deleted or are not ready.

        The pods of all ReplicaSets of a Deployment count. Of a Job of Volcano those that have succeeded do not.
        """
        known = self._unavailable.get(workload.uid)
        if known is None:
            uids = (workload.uid, *self._replica_sets.get(workload.uid, ()))
            done = "Succeeded" if workload.succeeded_are_available else ""
            pods = (pod for uid in uids for pod in self._pods.get(uid, ()) if pod.phase != done)
            known = self._unavailable[workload.uid] = frozenset(
                (pod.namespace, pod.name) for pod in pods if pod.is_terminal or pod.is_terminating or not pod.is_ready
            )
        return known

    def _find(self, controller: Owner) -> Workload | None:
        workload = self._snapshot.workloads.get(controller.uid) if can_look_up(controller) else None
        if workload is not None and not workload.are_replicas_known:
            return None
        deployment = None if workload is None else _deployment_of(workload)
        return workload if deployment is None else self._snapshot.workloads.get(deployment)

    @cached_property
    def _replica_sets(self) -> dict[str, list[str]]:
        """UID of a Deployment → UIDs of its ReplicaSets."""
        by_deployment: dict[str, list[str]] = {}
        for workload in self._snapshot.workloads.values():
            deployment = _deployment_of(workload)
            if deployment is not None:
                by_deployment.setdefault(deployment, []).append(workload.uid)
        return by_deployment

    @cached_property
    def _pods(self) -> dict[str, list[Pod]]:
        """UID of an owner → the pods that name it."""
        by_owner: dict[str, list[Pod]] = {}
        for pod in self._snapshot.pods:
            for owner in pod.owners:
                by_owner.setdefault(owner.uid, []).append(pod)
        return by_owner


class WorkloadIds:
    """The workloads of one snapshot's pods: a Deployment in the place of its ReplicaSets, where it is known."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._workloads = Workloads(snapshot)

    def of(self, pod: Pod) -> WorkloadId:
        """The workload of `pod`; a pod without controller is one by itself, whatever its uid."""
        workload, controller = self._workloads.of(pod), pod.controller
        if workload is not None:
            return WorkloadId(workload.kind, workload.namespace, workload.name, workload.uid)
        if controller is not None:
            return WorkloadId(controller.kind, pod.namespace, controller.name, controller.uid)
        return WorkloadId("Pod", pod.namespace, pod.name)


def _deployment_of(workload: Workload) -> str | None:
    """UID of the Deployment that controls a ReplicaSet, or None."""
    if workload.kind != "ReplicaSet":
        return None
    return next((owner.uid for owner in workload.owners if owner.controller and owner.kind == "Deployment"), None)
