"""One frozen view of a cluster, with the indexes that rules ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.gangs import OTHER_POD_GROUPS, AllGangs
from descheduler.model.groups.resource_quota import ResourceQuota
from descheduler.model.groups.volcano import JOB_KIND
from descheduler.model.groups.workloads import PodRevision, Workload
from descheduler.model.koordinator.devices import Device
from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.koordinator.migration_job import MIGRATION_JOB_KIND, MigrationJob
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, NODE_TOPOLOGY_KIND, NodeMetric, NodeTopology
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import Node
from descheduler.model.objects import LimitRange, Namespace, NodeUsage, PodUsage, PriorityClass, RuntimeClass, Service
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.model.volume_sources import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

if TYPE_CHECKING:
    from descheduler.cluster.kind import Kind, NamedObject

ObjectT = TypeVar("ObjectT", bound="NamedObject")


class SnapshotError(ValueError):
    """A cluster that cannot be read whole; the message names the source, the object and the way out."""


class DumpError(SnapshotError):
    """A dump that cannot be read whole: what was given to the program is at fault, not a cluster."""


def _view(collect: Callable[[Iterable[Any]], object], *kinds: str) -> Any:
    """A field of Snapshot that holds the objects of these kinds, keys of the kinds table."""
    return field(default_factory=lambda: collect(()), metadata={"collect": collect, "kinds": kinds})


def _by_name(objects: Iterable[Any]) -> Mapping[str, Any]:
    return {item.name: item for item in objects}


def _by_namespace_and_name(objects: Iterable[Any]) -> Mapping[tuple[str, str], Any]:
    return {(item.namespace, item.name): item for item in objects}


def _in_order(objects: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(objects, key=lambda item: (getattr(item, "namespace", ""), item.name)))


def _by_uid(workloads: Iterable[Workload]) -> Mapping[str, Workload]:
    return {item.uid or f"{item.kind}/{item.namespace}/{item.name}": item for item in workloads}


@dataclass(frozen=True)
class Snapshot:
    """Objects of one cluster at one moment. Nodes are in name order, pods in namespace and name order.

    What few rules read has no field here: `of` gives the objects of any kind. `skipped` names the broken objects that
    were left out on request. `kinds` holds the keys of the kinds that were read, so that "none exist" can be told from
    "not asked for"; `missing_kinds` are the names of those that a dump lacks although some rule needs them.
    `node_samples` maps a Prometheus query to node name, or `namespace/name` of a pod → sample, `sample_faults` one that
    failed to a sentence. `kube_version` is None where the source does not tell. `shard` is the part
    of the cluster that a run may change; the rest is there to be counted.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    namespaces: Mapping[str, Namespace] = _view(_by_name, "Namespace")
    priority_classes: Mapping[str, PriorityClass] = _view(_by_name, "PriorityClass.scheduling.k8s.io")
    claims: Mapping[tuple[str, str], PersistentVolumeClaim] = _view(_by_namespace_and_name, "PersistentVolumeClaim")
    budgets: tuple[DisruptionBudget, ...] = _view(_in_order, "PodDisruptionBudget.policy")
    workloads: Mapping[str, Workload] = _view(
        _by_uid,
        "ReplicaSet.apps",
        "Deployment.apps",
        "StatefulSet.apps",
        "ReplicationController",
        "Job.batch",
        "DaemonSet.apps",
        "CloneSet.apps.kruise.io",
        JOB_KIND,
    )
    revisions: Mapping[tuple[str, str], PodRevision] = _view(_by_namespace_and_name, "ControllerRevision.apps")
    migration_jobs: tuple[MigrationJob, ...] = _view(_in_order, MIGRATION_JOB_KIND)
    reservations: tuple[Reservation, ...] = _view(_in_order, "Reservation.scheduling.koordinator.sh")
    devices: Mapping[str, Device] = _view(_by_name, "Device.scheduling.koordinator.sh")
    volumes: Mapping[str, PersistentVolume] = _view(_by_name, "PersistentVolume")
    storage_classes: Mapping[str, StorageClass] = _view(_by_name, "StorageClass.storage.k8s.io")
    csi_nodes: Mapping[str, CSINode] = _view(_by_name, "CSINode.storage.k8s.io")
    csi_drivers: Mapping[str, CSIDriver] = _view(_by_name, "CSIDriver.storage.k8s.io")
    storage_capacities: tuple[CSIStorageCapacity, ...] = _view(_in_order, "CSIStorageCapacity.storage.k8s.io")
    attachments: tuple[VolumeAttachment, ...] = _view(_in_order, "VolumeAttachment.storage.k8s.io")
    services: tuple[Service, ...] = _view(_in_order, "Service")
    quotas: tuple[ResourceQuota, ...] = _view(_in_order, "ResourceQuota")
    limit_ranges: tuple[LimitRange, ...] = _view(_in_order, "LimitRange")
    runtime_classes: Mapping[str, RuntimeClass] = _view(_by_name, "RuntimeClass.node.k8s.io")
    pod_groups: tuple[PodGroup, ...] = _view(_in_order, "PodGroup.scheduling.sigs.k8s.io")
    other_pod_groups: tuple[PodGroup, ...] = _view(_in_order, *OTHER_POD_GROUPS)
    node_usage: Mapping[str, NodeUsage] = _view(_by_name, "NodeMetrics.metrics.k8s.io")
    pod_usage: Mapping[tuple[str, str], PodUsage] = _view(_by_namespace_and_name, "PodMetrics.metrics.k8s.io")
    node_metrics: Mapping[str, NodeMetric] = _view(_by_name, NODE_METRIC_KIND)
    node_topologies: Mapping[str, NodeTopology] = _view(_by_name, NODE_TOPOLOGY_KIND)
    objects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False)
    node_samples: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sample_faults: Mapping[str, str] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    skipped: tuple[str, ...] = ()
    missing_kinds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""
    taken_at: datetime | None = None
    resource_version: str = ""
    kube_version: KubeVersion | None = None
    shard: Shard = WHOLE_CLUSTER

    def of(self, kind: Kind[ObjectT]) -> tuple[ObjectT, ...]:
        """The objects of `kind`, in namespace and name order; none where it was not read, see `kinds`."""
        return self.objects.get(kind.key, ())

    @cached_property
    def workloads_by_name(self) -> Mapping[tuple[str, str, str], Workload]:
        """Kind, namespace and name → workload."""
        return {(workload.kind, workload.namespace, workload.name): workload for workload in self.workloads.values()}

    @cached_property
    def workloads_by_controller(self) -> Mapping[str, list[Workload]]:
        """UID of a workload → those that it controls, such as the ReplicaSets of a Deployment."""
        found: dict[str, list[Workload]] = {}
        for workload in self.workloads.values():
            for owner in workload.owners:
                if owner.controller:
                    found.setdefault(owner.uid, []).append(workload)
        return found

    @cached_property
    def nodes_by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def pods_by_controller(self) -> Mapping[str, tuple[Pod, ...]]:
        """UID of a controller → the pods that it controls, in namespace and name order."""
        found: dict[str, list[Pod]] = {}
        for pod in self.pods:
            if (owner := pod.controller) is not None:
                found.setdefault(owner.uid, []).append(pod)
        return {uid: tuple(pods) for uid, pods in found.items()}

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

    @cached_property
    def gangs(self) -> AllGangs:
        """The gangs of all schedulers."""
        return AllGangs(self.pods, self.pod_groups, self.other_pod_groups)

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


def snapshot_fields(
    nodes: tuple[Node, ...], pods: tuple[Pod, ...], others: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Fields of a Snapshot that holds these objects, `others` by the key of their kind."""
    views = {each.name: each.metadata for each in fields(Snapshot) if "collect" in each.metadata}
    held = {
        name: view["collect"](chain.from_iterable(others.get(key, ()) for key in view["kinds"]))
        for name, view in views.items()
    }
    objects = {"Node": nodes, "Pod": pods, **{key: _in_order(items) for key, items in others.items()}}
    return {"nodes": nodes, "pods": pods, "objects": objects, **held}


class BudgetIndex:
    """Well-formed budgets of one namespace, each kept under one label that its selector asks for.

    Of several such labels the rarest among the selectors is chosen, so that one which they all name does not collect
    them all. Selectors that ask for no value are compared with every pod.
    """

    def __init__(self, budgets: Sequence[DisruptionBudget]) -> None:
        self._by_label: dict[tuple[str, str], list[tuple[int, DisruptionBudget]]] = {}
        self._others: list[tuple[int, DisruptionBudget]] = []
        asked = Counter(label for budget in budgets for choice in _choices(budget.selector) for label in choice)
        for place, budget in enumerate(budgets):
            choices = list(_choices(budget.selector))
            if not choices:
                self._others.append((place, budget))
                continue
            for label in min(choices, key=lambda choice: sum(asked[label] for label in choice)):
                self._by_label.setdefault(label, []).append((place, budget))

    def covering(self, labels: Mapping[str, str]) -> tuple[DisruptionBudget, ...]:
        """The budgets whose selector matches `labels`, in the order given."""
        likely = list(self._others)
        for label in labels.items():
            likely += self._by_label.get(label, ())
        found = [(place, budget) for place, budget in likely if budget.selector.matches(labels)]
        return tuple(budget for _, budget in sorted(found, key=lambda entry: entry[0]))


def _choices(selector: LabelSelector) -> Iterator[list[tuple[str, str]]]:
    """For each requirement that names values, the labels that meet it."""
    for requirement in selector.requirements:
        if requirement.operator == "In":
            yield [(requirement.key, value) for value in sorted(requirement.values)]
