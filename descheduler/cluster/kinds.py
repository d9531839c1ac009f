"""The table of kinds: each kind of objects that is read is told here, in one row.

Reading a cluster, a dump or objects, writing a dump, the roles that reading takes and the reference all go by it. Pods
and nodes come first. Secrets and ConfigMaps are not among the kinds: their content stays in the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TypeAlias

from descheduler.cluster.decoding import small_objects, storage_objects
from descheduler.cluster.decoding.decode import node_decoder, pod_decoder
from descheduler.cluster.decoding.koordinator.devices import decode_device
from descheduler.cluster.decoding.koordinator.migration_jobs import decode_migration_job
from descheduler.cluster.decoding.koordinator.node_metric import node_metric_decoder
from descheduler.cluster.decoding.koordinator.node_topology import decode_node_topology
from descheduler.cluster.decoding.koordinator.pod_groups import (
    decode_elastic_quota,
    decode_kubernetes_pod_group,
    decode_pod_group,
    decode_scheduler_plugins_pod_group,
)
from descheduler.cluster.decoding.koordinator.reservations import reservation_decoder
from descheduler.cluster.decoding.volcano import decode_volcano_job, decode_volcano_pod_group, decode_volcano_queue
from descheduler.cluster.decoding.workload_objects import revision_decoder, workload_decoder
from descheduler.cluster.hardware_kinds import DEVICE_KIND_ROWS, VOLUME_KIND_ROWS
from descheduler.cluster.kept import kubernetes, schedulers
from descheduler.cluster.kind import AnyKind, Kind, Trace, kind_key, unshared

Kinds: TypeAlias = Mapping[str, AnyKind]
"""Key of a kind → the kind, in reading order."""

_KOORDINATOR = "scheduling.koordinator.sh"
_SCHEDULER_PLUGINS = "scheduling.sigs.k8s.io"
_VOLCANO = "scheduling.volcano.sh"

_NODE_PAGE_SIZE = 500
"""Nodes name the images they hold, and their metrics all pods: they are ten times the size of other objects."""

_koordinator_kind = partial(Kind, is_optional=True, traces=frozenset({Trace.KOORDINATOR}))
_volcano_kind = partial(Kind, is_optional=True, traces=frozenset({Trace.VOLCANO}))

_TABLE: tuple[AnyKind, ...] = (
    Kind(
        "Node",
        "v1",
        purpose="allocatable resources, labels and taints",
        decoder=node_decoder,
        kept=kubernetes.NODE,
        page_size=_NODE_PAGE_SIZE,
        is_essential=True,
        is_message=True,
    ),
    Kind(
        "Pod",
        "v1",
        purpose="running and pending pods, and their requests",
        decoder=pod_decoder,
        kept=kubernetes.POD,
        is_essential=True,
        is_message=True,
    ),
    Kind(
        "Namespace",
        "v1",
        purpose="the namespaces that a namespaceSelector selects, and whether one is being deleted",
        decoder=unshared(small_objects.decode_namespace),
        kept=kubernetes.NAMESPACE,
    ),
    Kind(
        "PersistentVolumeClaim",
        "v1",
        purpose="the volumes of a pod, and their storage classes",
        decoder=unshared(storage_objects.decode_claim),
        kept=kubernetes.CLAIM,
        traces=frozenset({Trace.CLAIMED_VOLUME}),
    ),
    Kind(
        "PriorityClass",
        "scheduling.k8s.io/v1",
        purpose="the value of a priority class",
        decoder=unshared(small_objects.decode_priority_class),
        kept=kubernetes.PRIORITY_CLASS,
    ),
    Kind(
        "PodDisruptionBudget",
        "policy/v1",
        purpose="how many pods of an application can be disrupted",
        decoder=unshared(small_objects.decode_budget),
        kept=kubernetes.BUDGET,
        is_essential=True,
    ),
    Kind(
        "ReplicaSet",
        "apps/v1",
        purpose="the pod template and the number of replicas",
        decoder=workload_decoder("ReplicaSet"),
        kept=kubernetes.WORKLOAD,
        traces=frozenset({Trace.REPLICA_SET}),
    ),
    Kind(
        "Deployment",
        "apps/v1",
        purpose="the pod template and the number of replicas",
        decoder=workload_decoder("Deployment"),
        kept=kubernetes.WORKLOAD,
        traces=frozenset({Trace.REPLICA_SET}),
    ),
    Kind(
        "StatefulSet",
        "apps/v1",
        purpose="the pod template, the number of replicas and their order",
        decoder=workload_decoder("StatefulSet"),
        kept=kubernetes.STATEFUL_SET,
        traces=frozenset({Trace.STATEFUL_SET}),
    ),
    Kind(
        "ReplicationController",
        "v1",
        purpose="the pod template and the number of replicas",
        decoder=workload_decoder("ReplicationController"),
        kept=kubernetes.REPLICATION_CONTROLLER,
        traces=frozenset({Trace.REPLICATION_CONTROLLER}),
    ),
    Kind(
        "Job",
        "batch/v1",
        purpose="the pod template, and whether an evicted pod is created again",
        decoder=workload_decoder("Job"),
        kept=kubernetes.JOB,
        traces=frozenset({Trace.JOB}),
    ),
    Kind(
        "DaemonSet",
        "apps/v1",
        purpose="the pod template, and the nodes that are to have a pod",
        decoder=workload_decoder("DaemonSet"),
        kept=kubernetes.DAEMON_SET,
    ),
    Kind(
        "ControllerRevision",
        "apps/v1",
        purpose="earlier pod templates of a StatefulSet",
        decoder=revision_decoder,
        kept=kubernetes.CONTROLLER_REVISION,
        traces=frozenset({Trace.STATEFUL_SET}),
    ),
    Kind(
        "CloneSet",
        "apps.kruise.io/v1alpha1",
        purpose="the pod template and the number of replicas",
        decoder=workload_decoder("CloneSet"),
        kept=kubernetes.WORKLOAD,
        is_optional=True,
        traces=frozenset({Trace.CLONE_SET}),
    ),
    Kind(
        "Service",
        "v1",
        purpose="the pods that are spread by default constraints",
        decoder=unshared(small_objects.decode_service),
        kept=kubernetes.SERVICE,
    ),
    *VOLUME_KIND_ROWS,
    Kind(
        "RuntimeClass",
        "node.k8s.io/v1",
        purpose="the overhead of a runtime, and the nodes that have it",
        decoder=unshared(small_objects.decode_runtime_class),
        kept=kubernetes.RUNTIME_CLASS,
    ),
    Kind(
        "LimitRange",
        "v1",
        purpose="requests that a new pod gets by default",
        decoder=unshared(small_objects.decode_limit_range),
        kept=kubernetes.LIMIT_RANGE,
    ),
    Kind(
        "ResourceQuota",
        "v1",
        purpose="whether the quota of a namespace allows one more pod",
        decoder=unshared(small_objects.decode_quota),
        kept=kubernetes.QUOTA,
    ),
    Kind(
        "PodMigrationJob",
        f"{_KOORDINATOR}/v1alpha1",
        purpose="pods that are being migrated",
        decoder=unshared(decode_migration_job),
        kept=schedulers.MIGRATION_JOB,
        is_optional=True,
    ),
    Kind(
        "NodeMetrics",
        "metrics.k8s.io/v1beta1",
        "nodes",
        purpose="the measured usage of nodes",
        decoder=unshared(small_objects.decode_node_usage),
        kept=kubernetes.NODE_USAGE,
        is_optional=True,
        is_measured=True,
    ),
    Kind(
        "PodMetrics",
        "metrics.k8s.io/v1beta1",
        "pods",
        purpose="the measured usage of pods",
        decoder=unshared(small_objects.decode_pod_usage),
        kept=kubernetes.POD_USAGE,
        is_optional=True,
        is_measured=True,
    ),
    Kind(
        "NodeMetric",
        "slo.koordinator.sh/v1alpha1",
        purpose="the usage of a node and its pods as Koordinator measures it",
        decoder=node_metric_decoder,
        kept=schedulers.NODE_METRIC,
        is_optional=True,
        page_size=_NODE_PAGE_SIZE,
    ),
    _koordinator_kind(
        "NodeResourceTopology",
        "topology.node.k8s.io/v1alpha1",
        purpose="the CPUs of a node, and those to which no pod is pinned",
        decoder=unshared(decode_node_topology),
        kept=schedulers.NODE_TOPOLOGY,
        page_size=_NODE_PAGE_SIZE,
    ),
    *DEVICE_KIND_ROWS,
    _koordinator_kind(
        "Reservation",
        f"{_KOORDINATOR}/v1alpha1",
        purpose="resources that are reserved for later pods",
        decoder=reservation_decoder,
        kept=schedulers.RESERVATION,
    ),
    _koordinator_kind(
        "Device",
        f"{_KOORDINATOR}/v1alpha1",
        purpose="GPUs and other devices of a node",
        decoder=unshared(decode_device),
        kept=schedulers.DEVICE,
    ),
    _koordinator_kind(
        "ElasticQuota",
        f"{_SCHEDULER_PLUGINS}/v1alpha1",
        purpose="the minimum and maximum resources of a team",
        decoder=unshared(decode_elastic_quota),
        kept=schedulers.ELASTIC_QUOTA,
    ),
    _koordinator_kind(
        "PodGroup",
        f"{_SCHEDULER_PLUGINS}/v1alpha1",
        purpose="pods that are scheduled together or not at all",
        decoder=unshared(decode_pod_group),
        kept=schedulers.POD_GROUP,
    ),
    _volcano_kind(
        "PodGroup",
        f"{_VOLCANO}/v1beta1",
        purpose="how many pods of a gang of Volcano have to run",
        decoder=unshared(decode_volcano_pod_group),
        kept=schedulers.POD_GROUP,
    ),
    Kind(
        "PodGroup",
        "scheduling.x-k8s.io/v1alpha1",
        purpose="how many pods of a gang of scheduler-plugins have to run",
        decoder=unshared(decode_scheduler_plugins_pod_group),
        kept=schedulers.POD_GROUP,
        is_optional=True,
        traces=frozenset({Trace.COSCHEDULING}),
    ),
    Kind(
        "PodGroup",
        "scheduling.k8s.io/v1beta1",
        purpose="how many pods of a group of Kubernetes have to run, and whether they leave together only",
        decoder=unshared(decode_kubernetes_pod_group),
        kept=schedulers.KUBERNETES_POD_GROUP,
        is_optional=True,
        traces=frozenset({Trace.SCHEDULING_GROUP}),
    ),
    _volcano_kind(
        "Job",
        "batch.volcano.sh/v1alpha1",
        purpose="what becomes of a job of Volcano when one of its pods is evicted",
        decoder=unshared(decode_volcano_job),
        kept=schedulers.VOLCANO_JOB,
    ),
    _volcano_kind(
        "Queue",
        f"{_VOLCANO}/v1beta1",
        purpose="what a queue of Volcano deserves, and the most that it can hold",
        decoder=unshared(decode_volcano_queue),
        kept=schedulers.QUEUE,
    ),
)


def kinds_by_key(table: Iterable[AnyKind]) -> Kinds:
    """Such a table, for kinds in reading order."""
    return {kind.key: kind for kind in table}


KINDS = kinds_by_key(_TABLE)


def kind_of(kinds: Kinds, api_version: str, name: str) -> AnyKind | None:
    """The kind of an object that states `apiVersion` and `kind`, or None for one that no snapshot holds."""
    return kinds.get(kind_key(name, api_version))
