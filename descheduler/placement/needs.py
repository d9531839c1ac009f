"""What has to be read of a cluster to tell where pods land: what plugins, admission and the pods' owners go by."""

from __future__ import annotations

from descheduler.placement.framework.scheduling_plugin import annotations_read_by, kinds_read_by
from descheduler.placement.plugins.table import PLUGINS

__all__ = ["LANDING_ANNOTATIONS", "LANDING_KINDS", "OWNER_KINDS"]

_ADMISSION_KINDS = frozenset(
    {"ResourceQuota", "LimitRange", "RuntimeClass.node.k8s.io", "PriorityClass.scheduling.k8s.io"}
)

LANDING_KINDS = _ADMISSION_KINDS | kinds_read_by(PLUGINS.values())
"""Kinds that decide where a pod lands, beside nodes and pods; there are few objects of them."""

OWNER_KINDS = frozenset(
    {"ReplicaSet.apps", "Deployment.apps", "StatefulSet.apps", "ReplicationController", "Job.batch"}
)
"""Kinds whose templates say what is created instead of an evicted pod; old revisions make them many."""

LANDING_ANNOTATIONS = annotations_read_by(PLUGINS.values())
"""Keys of annotations that decide where a pod lands; all of a domain for one that ends with `/`."""
