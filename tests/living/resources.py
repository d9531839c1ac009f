"""The kinds that the living cluster serves, and where their lists are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of objects. With `has_status`, status is written through its subresource alone."""

    api_version: str
    plural: str
    kind: str
    is_namespaced: bool = True
    has_status: bool = False

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def root(self) -> str:
        """The path of the group and version, such as `/apis/apps/v1`."""
        return f"/{'apis' if self.group else 'api'}/{self.api_version}"

    @property
    def path(self) -> str:
        """The path of the list of the whole cluster."""
        return f"{self.root}/{self.plural}"

    @property
    def qualified(self) -> str:
        """`pods`, `replicasets.apps`: as messages of the API name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_KOORDINATOR = "scheduling.koordinator.sh/v1alpha1"
_SCHEDULER_PLUGINS = "scheduling.sigs.k8s.io/v1alpha1"

KOORDINATOR_GROUPS = frozenset({"scheduling.koordinator.sh", "scheduling.sigs.k8s.io", "slo.koordinator.sh"})
"""What a cluster without Koordinator does not serve."""

_TABLE = (
    Resource("v1", "nodes", "Node", is_namespaced=False, has_status=True),
    Resource("v1", "pods", "Pod", has_status=True),
    Resource("v1", "namespaces", "Namespace", is_namespaced=False, has_status=True),
    Resource("v1", "configmaps", "ConfigMap"),
    Resource("v1", "secrets", "Secret"),
    Resource("v1", "events", "Event"),
    Resource("v1", "services", "Service", has_status=True),
    Resource("v1", "limitranges", "LimitRange"),
    Resource("v1", "resourcequotas", "ResourceQuota", has_status=True),
    Resource("v1", "replicationcontrollers", "ReplicationController", has_status=True),
    Resource("v1", "persistentvolumeclaims", "PersistentVolumeClaim", has_status=True),
    Resource("v1", "persistentvolumes", "PersistentVolume", is_namespaced=False, has_status=True),
    Resource("apps/v1", "deployments", "Deployment", has_status=True),
    Resource("apps/v1", "replicasets", "ReplicaSet", has_status=True),
    Resource("apps/v1", "statefulsets", "StatefulSet", has_status=True),
    Resource("apps/v1", "daemonsets", "DaemonSet", has_status=True),
    Resource("batch/v1", "jobs", "Job", has_status=True),
    Resource("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", has_status=True),
    Resource("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", has_status=True),
    Resource("events.k8s.io/v1", "events", "Event"),
    Resource("coordination.k8s.io/v1", "leases", "Lease"),
    Resource("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", is_namespaced=False),
    Resource("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", is_namespaced=False),
    Resource("storage.k8s.io/v1", "storageclasses", "StorageClass", is_namespaced=False),
    Resource("storage.k8s.io/v1", "csinodes", "CSINode", is_namespaced=False),
    Resource("storage.k8s.io/v1", "csidrivers", "CSIDriver", is_namespaced=False),
    Resource("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity"),
    Resource("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", is_namespaced=False),
    Resource(_KOORDINATOR, "reservations", "Reservation", is_namespaced=False, has_status=True),
    Resource(_KOORDINATOR, "podmigrationjobs", "PodMigrationJob", is_namespaced=False, has_status=True),
    Resource(_KOORDINATOR, "devices", "Device", is_namespaced=False, has_status=True),
    Resource(_SCHEDULER_PLUGINS, "elasticquotas", "ElasticQuota", has_status=True),
    Resource(_SCHEDULER_PLUGINS, "podgroups", "PodGroup", has_status=True),
    Resource("slo.koordinator.sh/v1alpha1", "nodemetrics", "NodeMetric", is_namespaced=False, has_status=True),
)

RESOURCES = {resource.path: resource for resource in _TABLE}
"""Path of the list of the whole cluster → the kind."""

_BY_PLURAL = {resource.qualified: resource for resource in _TABLE}


def by_plural(qualified: str) -> Resource:
    """The kind named like `pods` or `replicasets.apps`."""
    return _BY_PLURAL[qualified]
