"""The kinds that a dump holds: all that are read today, and what says where a replacement can land.

Secrets and ConfigMaps are not among them, and a dump cannot be made to hold them.
"""

from __future__ import annotations

from descheduler.cluster.kinds import KINDS, Kind

__all__ = ["DUMP_KINDS", "REFUSED_KINDS", "kind_key"]

REFUSED_KINDS = frozenset({"Secret", "ConfigMap"})
"""Kinds whose content is nobody's business outside the cluster."""


def _kind(name: str, group: str, version: str, plural: str, *, is_optional: bool = False) -> Kind:
    prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return Kind(name, group, f"{prefix}/{plural}", is_optional=is_optional)


_FURTHER = (
    _kind("DaemonSet", "apps", "v1", "daemonsets"),
    _kind("ResourceClaim", "resource.k8s.io", "v1", "resourceclaims", is_optional=True),
    _kind("Reservation", "scheduling.koordinator.sh", "v1alpha1", "reservations", is_optional=True),
    _kind("Device", "scheduling.koordinator.sh", "v1alpha1", "devices", is_optional=True),
    _kind("NodeMetric", "slo.koordinator.sh", "v1alpha1", "nodemetrics", is_optional=True),
    _kind("ElasticQuota", "scheduling.sigs.k8s.io", "v1alpha1", "elasticquotas", is_optional=True),
    _kind("PodGroup", "scheduling.sigs.k8s.io", "v1alpha1", "podgroups", is_optional=True),
    _kind("PodGroup", "scheduling.volcano.sh", "v1beta1", "podgroups", is_optional=True),
    _kind("Queue", "scheduling.volcano.sh", "v1beta1", "queues", is_optional=True),
)

DUMP_KINDS = (*KINDS.values(), *_FURTHER)
"""In the order in which a dump lists them; kinds of the same name differ in their group."""


def kind_key(kind: Kind) -> str:
    """`name.group`, or the bare name of a core kind."""
    return f"{kind.name}.{kind.group}" if kind.group else kind.name
