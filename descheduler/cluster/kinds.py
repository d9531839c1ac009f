"""Which kinds of objects are read, where the API server lists them, and how each is decoded.

Pods and nodes, the bulk of every cluster, have decoders of their own (`cluster.decode`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from descheduler.cluster.decoding import small_objects, storage_objects
from descheduler.cluster.decoding.workload_objects import decode_workload
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

__all__ = ["KINDS", "Kind", "SmallObject", "kind_of"]

SmallObject = (
    Namespace
    | PriorityClass
    | PersistentVolumeClaim
    | DisruptionBudget
    | Workload
    | MigrationJob
    | NodeUsage
    | PodUsage
    | PersistentVolume
    | StorageClass
    | CSINode
    | CSIDriver
    | CSIStorageCapacity
    | VolumeAttachment
    | Service
    | ResourceQuota
    | LimitRange
    | RuntimeClass
)


_PAGE_SIZE = 2500
"""The API server counts what is left of a list for every page, so that at 150,000 pods it spends twice the time on
pages of 500; larger pages than this gain little, and two of them are in memory at a time."""
_NODE_PAGE_SIZE = 500
"""Nodes name the images they hold, and are ten times the size of other objects."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that is read. `path` is its cluster-wide list; `is_optional` kinds may be absent from a cluster.

    Of an `is_measured` kind a fault is no more than absence: only the plugin that wants its figures goes without.
    `page_size` is the number of objects asked for at once. One that `is_message` is read in protobuf from a server that
    speaks it.
    """

    name: str
    group: str
    path: str
    is_optional: bool = False
    is_measured: bool = False
    decode: Callable[[bytes], SmallObject] | None = None
    page_size: int = _PAGE_SIZE
    is_message: bool = False


def _kind(
    name: str,
    group: str,
    version: str,
    plural: str,
    decode: Callable[[bytes], SmallObject],
    *,
    is_optional: bool = False,
) -> Kind:
    prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return Kind(name, group, f"{prefix}/{plural}", is_optional=is_optional, decode=decode)


def _measured(name: str, plural: str, decode: Callable[[bytes], SmallObject]) -> Kind:
    path = f"/apis/metrics.k8s.io/v1beta1/{plural}"
    return Kind(name, "metrics.k8s.io", path, is_optional=True, is_measured=True, decode=decode)


def _workload(name: str, group: str, version: str, *, is_optional: bool = False) -> Kind:
    return _kind(name, group, version, f"{name.lower()}s", decode_workload(name), is_optional=is_optional)


_STORAGE = "storage.k8s.io"
_KOORDINATOR = "scheduling.koordinator.sh"

_TABLE = (
    Kind("Node", "", "/api/v1/nodes", page_size=_NODE_PAGE_SIZE, is_message=True),
    Kind("Pod", "", "/api/v1/pods", is_message=True),
    _kind("Namespace", "", "v1", "namespaces", small_objects.decode_namespace),
    _kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", storage_objects.decode_claim),
    _kind("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", small_objects.decode_priority_class),
    _kind("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", small_objects.decode_budget),
    _workload("ReplicaSet", "apps", "v1"),
    _workload("Deployment", "apps", "v1"),
    _workload("StatefulSet", "apps", "v1"),
    _workload("ReplicationController", "", "v1"),
    _workload("Job", "batch", "v1"),
    _workload("CloneSet", "apps.kruise.io", "v1alpha1", is_optional=True),
    _kind("Service", "", "v1", "services", small_objects.decode_service),
    _kind("PersistentVolume", "", "v1", "persistentvolumes", storage_objects.decode_volume),
    _kind("StorageClass", _STORAGE, "v1", "storageclasses", storage_objects.decode_storage_class),
    _kind("CSINode", _STORAGE, "v1", "csinodes", storage_objects.decode_csi_node),
    _kind("CSIDriver", _STORAGE, "v1", "csidrivers", storage_objects.decode_csi_driver),
    _kind("CSIStorageCapacity", _STORAGE, "v1", "csistoragecapacities", storage_objects.decode_storage_capacity),
    _kind("VolumeAttachment", _STORAGE, "v1", "volumeattachments", storage_objects.decode_attachment),
    _kind("RuntimeClass", "node.k8s.io", "v1", "runtimeclasses", small_objects.decode_runtime_class),
    _kind("LimitRange", "", "v1", "limitranges", small_objects.decode_limit_range),
    _kind("ResourceQuota", "", "v1", "resourcequotas", small_objects.decode_quota),
    _kind(
        "PodMigrationJob",
        _KOORDINATOR,
        "v1alpha1",
        "podmigrationjobs",
        small_objects.decode_migration_job,
        is_optional=True,
    ),
    _measured("NodeMetrics", "nodes", small_objects.decode_node_usage),
    _measured("PodMetrics", "pods", small_objects.decode_pod_usage),
)

KINDS = {kind.name: kind for kind in _TABLE}
"""Kind name → kind, in reading order."""


def kind_of(api_version: str, name: str) -> Kind | None:
    """The kind of an object that states `apiVersion` and `kind`, or None for one that is not read.

    The version within the group is not compared: the fields that are read are the same in all served versions.
    """
    kind = KINDS.get(name)
    group = api_version.rpartition("/")[0]
    return kind if kind is not None and kind.group == group else None
