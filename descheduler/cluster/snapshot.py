"""One frozen view of a cluster, with the indexes that rules ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from descheduler.cluster.budget_index import BudgetIndex
from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import Node
from descheduler.model.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DisruptionBudget,
    LimitRange,
    MigrationJob,
    Namespace,
    NodeUsage,
    PersistentVolume,
    PersistentVolumeClaim,
    PodUsage,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    Service,
    StorageClass,
    VolumeAttachment,
    Workload,
)
from descheduler.model.pod import Pod

__all__ = ["POD_CONDITIONS", "POD_TEMPLATES", "DumpError", "Snapshot", "SnapshotError"]


POD_CONDITIONS = "Pod.status.conditions"
"""Stands among needed kinds for pod conditions, the bulkiest part of a pod that few plugins read."""

POD_TEMPLATES = "Workload.spec.template"
"""Stands among needed kinds for the pod templates of workloads, the bulkiest part of them that few plugins read."""


class SnapshotError(ValueError):
    """A cluster that cannot be read whole; the message names the source, the object and the way out."""


class DumpError(SnapshotError):
    """A dump that cannot be read whole: what was given to the program is at fault, not a cluster."""


@dataclass(frozen=True)
class Snapshot:
    """Objects of one cluster at one moment. Nodes are in name order, pods in namespace and name order.

    `skipped` names the broken objects that were left out on request. `kinds` holds the kinds that were read, so that
    "none exist" can be told from "not asked for". `node_samples` maps a Prometheus query to node name → sample,
    `sample_faults` one that failed to a sentence. `kube_version` is None where the source does not tell.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    priority_classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    claims: Mapping[tuple[str, str], PersistentVolumeClaim] = field(default_factory=dict)
    budgets: tuple[DisruptionBudget, ...] = ()
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    migration_jobs: tuple[MigrationJob, ...] = ()
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    storage_classes: Mapping[str, StorageClass] = field(default_factory=dict)
    csi_nodes: Mapping[str, CSINode] = field(default_factory=dict)
    csi_drivers: Mapping[str, CSIDriver] = field(default_factory=dict)
    storage_capacities: tuple[CSIStorageCapacity, ...] = ()
    attachments: tuple[VolumeAttachment, ...] = ()
    services: tuple[Service, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    runtime_classes: Mapping[str, RuntimeClass] = field(default_factory=dict)
    node_usage: Mapping[str, NodeUsage] = field(default_factory=dict)
    pod_usage: Mapping[tuple[str, str], PodUsage] = field(default_factory=dict)
    node_samples: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sample_faults: Mapping[str, str] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    skipped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""
    taken_at: datetime | None = None
    resource_version: str = ""
    kube_version: KubeVersion | None = None

    @cached_property
    def workloads_by_name(self) -> Mapping[tuple[str, str, str], Workload]:
        """Kind, namespace and name → workload."""
        return {(workload.kind, workload.namespace, workload.name): workload for workload in self.workloads.values()}

    @cached_property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Node name → its pods of any phase, in namespace and name order. Unbound pods are left out."""
        by_node: dict[str, list[Pod]] = {}
        for pod in self.pods:
            if pod.node_name:
                by_node.setdefault(pod.node_name, []).append(pod)
        return {name: tuple(pods) for name, pods in by_node.items()}

    @cached_property
    def pods_by_owner(self) -> Counter[str]:
        """Owner UID → number of pods that name it, in any namespace, phase or place."""
        return Counter(uid for pod in self.pods for uid in {owner.uid for owner in pod.owners})

    def budgets_of(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        """The well-formed budgets whose selector matches `pod`, in name order."""
        index = self._budget_indexes.get(pod.namespace)
        return index.covering(pod.labels) if index is not None else ()

    @cached_property
    def _budget_indexes(self) -> Mapping[str, BudgetIndex]:
        by_namespace: dict[str, list[DisruptionBudget]] = {}
        for budget in self.budgets:
            if not budget.selector_error:
                by_namespace.setdefault(budget.namespace, []).append(budget)
        return {namespace: BudgetIndex(budgets) for namespace, budgets in by_namespace.items()}
