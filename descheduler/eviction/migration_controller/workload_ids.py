"""Whose pod is it: the name under which moves of a workload are remembered."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.workloads import Workloads
from descheduler.model.pod import Pod
from descheduler.plan.recent_moves import WorkloadId

__all__ = ["WorkloadIds"]


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
