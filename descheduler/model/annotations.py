"""The annotations that are known: no rule sees another one unless its plugin says so, and no other goes into a dump.

Objects carry many more: manifests with passwords, commands that were typed, settings of other controllers.
"""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.groups.gangs import OTHER_GANG_ANNOTATIONS
from descheduler.model.groups.volcano import QUEUE_NAME_ANNOTATION
from descheduler.model.koordinator.elastic_quota import QUOTA_ANNOTATIONS
from descheduler.model.koordinator.eviction_annotations import (
    COST_ANNOTATION,
    DELETION_COST_ANNOTATION,
    PASSED_ARBITRATION_ANNOTATION,
)
from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS
from descheduler.model.node import NODE_RESERVATION_ANNOTATION
from descheduler.model.pod import (
    DO_NOT_DISRUPT_ANNOTATION,
    EVICT_ANNOTATION,
    EVICTION_IN_PROGRESS_ANNOTATION,
    MIRROR_ANNOTATION,
    PREFER_NO_EVICTION_ANNOTATION,
    REQUEST_EVICT_ONLY_ANNOTATION,
    SAFE_TO_EVICT_ANNOTATION,
    SOURCE_ANNOTATION,
)

RESOURCE_STATUS_ANNOTATION = "scheduling.koordinator.sh/resource-status"
RESERVATION_ALLOCATED_ANNOTATION = "scheduling.koordinator.sh/reservation-allocated"
RESTRICTED_OPTIONS_ANNOTATION = "scheduling.koordinator.sh/reservation-restricted-options"
DEVICES_ALLOCATED_ANNOTATION = "scheduling.koordinator.sh/device-allocated"
DEVICE_HINT_ANNOTATION = "scheduling.koordinator.sh/device-allocate-hint"
JOINT_DEVICES_ANNOTATION = "scheduling.koordinator.sh/device-joint-allocate"
GPU_PARTITION_SPEC_ANNOTATION = "scheduling.koordinator.sh/gpu-partition-spec"
GPU_PARTITIONS_ANNOTATION = "scheduling.koordinator.sh/gpu-partitions"
CPU_TOPOLOGY_ANNOTATION = "node.koordinator.sh/cpu-topology"
POD_CPU_ALLOCS_ANNOTATION = "node.koordinator.sh/pod-cpu-allocs"
SYSTEM_QOS_ANNOTATION = "node.koordinator.sh/system-qos-resource"
CPU_MANAGER_POLICY_ANNOTATION = "kubelet.koordinator.sh/cpu-manager-policy"
CPU_SPEC_ANNOTATION = "scheduling.koordinator.sh/resource-spec"
NUMA_SPEC_ANNOTATION = "scheduling.koordinator.sh/numa-topology-spec"
FEATURE_ANNOTATIONS = {
    "gang.scheduling.koordinator.sh/name": "gangs",
    "scheduling.koordinator.sh/reservation-affinity": "reservations",
    CPU_SPEC_ANNOTATION: "CPU topology requests",
    NUMA_SPEC_ANNOTATION: "CPU topology requests",
    DEVICE_HINT_ANNOTATION: "device hints",
    JOINT_DEVICES_ANNOTATION: "joint devices",
    GPU_PARTITION_SPEC_ANNOTATION: "GPU partitions",
}
"""What pods ask of Koordinator's scheduler, in words."""

REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
JOB_INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index"
JOB_INDEX_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count"
VPA_UPDATES_ANNOTATION = "vpaUpdates"
"""What VerticalPodAutoscaler notes on a pod whose requests it has set at admission."""

EXTENDED_CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""What the scheduler notes on a claim of devices that it made for a pod's extended resources."""

BOUND_ANNOTATION = "pv.kubernetes.io/bind-completed"
SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node"
MIGRATED_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins"
BETA_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
DEFAULT_CLASS_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)

KUEUE_ANNOTATIONS, KAI_ANNOTATIONS = "kueue.x-k8s.io/", "kai.scheduler/"
"""Domains of the annotations by which Kueue and KAI place pods."""

READ_ANNOTATIONS = frozenset(
    {
        DO_NOT_DISRUPT_ANNOTATION,
        SAFE_TO_EVICT_ANNOTATION,
        KUEUE_ANNOTATIONS,
        KAI_ANNOTATIONS,
        EVICT_ANNOTATION,
        PREFER_NO_EVICTION_ANNOTATION,
        REQUEST_EVICT_ONLY_ANNOTATION,
        EVICTION_IN_PROGRESS_ANNOTATION,
        MIRROR_ANNOTATION,
        SOURCE_ANNOTATION,
        COST_ANNOTATION,
        DELETION_COST_ANNOTATION,
        NODE_RESERVATION_ANNOTATION,
        *QUOTA_ANNOTATIONS,
        RESOURCE_STATUS_ANNOTATION,
        RESTRICTED_OPTIONS_ANNOTATION,
        PASSED_ARBITRATION_ANNOTATION,
        *FEATURE_ANNOTATIONS,
        *GANG_ANNOTATIONS,
        *OTHER_GANG_ANNOTATIONS,
        REVISION_ANNOTATION,
        JOB_INDEX_ANNOTATION,
        JOB_INDEX_FAILURES_ANNOTATION,
        VPA_UPDATES_ANNOTATION,
        EXTENDED_CLAIM_ANNOTATION,
        BOUND_ANNOTATION,
        SELECTED_NODE_ANNOTATION,
        MIGRATED_PLUGINS_ANNOTATION,
        BETA_CLASS_ANNOTATION,
        *DEFAULT_CLASS_ANNOTATIONS,
    }
)
"""Keys that some rule reads."""

KNOWN_ANNOTATIONS = READ_ANNOTATIONS | {
    DEVICES_ALLOCATED_ANNOTATION,
    GPU_PARTITIONS_ANNOTATION,
    RESERVATION_ALLOCATED_ANNOTATION,
    CPU_TOPOLOGY_ANNOTATION,
    POD_CPU_ALLOCS_ANNOTATION,
    SYSTEM_QOS_ANNOTATION,
    CPU_MANAGER_POLICY_ANNOTATION,
    "scheduling.volcano.sh/group-name",
    QUEUE_NAME_ANNOTATION,
}
"""Those, and keys under which schedulers note what they gave to a pod; they go into dumps."""


class AnnotationKeys:
    """Keys of annotations; those of `keys` that end with `/` stand for all keys of a domain."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.keys = frozenset(keys)
        self._domains = tuple(sorted(key for key in self.keys if key.endswith("/")))

    def __contains__(self, key: str) -> bool:
        return key in self.keys or key.startswith(self._domains)
