"""What has to be read of a cluster to tell where pods land: what plugins, admission and the pods' owners go by."""

from __future__ import annotations

from descheduler.placement.framework.scheduling_plugin import annotations_read_by, kinds_read_by
from descheduler.placement.plugins.table import PLUGINS

__all__ = ["OWNER_KINDS", "landing_annotations", "landing_kinds"]

_ADMISSION_KINDS = frozenset(
    {"ResourceQuota", "LimitRange", "RuntimeClass.node.k8s.io", "PriorityClass.scheduling.k8s.io"}
)

OWNER_KINDS = frozenset(
    {"ReplicaSet.apps", "Deployment.apps", "StatefulSet.apps", "ReplicationController", "Job.batch"}
)
"""Kinds whose templates say what is created instead of an evicted pod; old revisions make them many."""


def landing_kinds() -> frozenset[str]:
    """Kinds that decide where a pod lands, beside nodes and pods; there are few objects of them."""
    return _ADMISSION_KINDS | kinds_read_by(PLUGINS.values())


def landing_annotations() -> frozenset[str]:
    """Keys of annotations that decide where a pod lands; all of a domain for one that ends with `/`."""
    return annotations_read_by(PLUGINS.values())
