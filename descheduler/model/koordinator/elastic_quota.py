"""ElasticQuotas of Koordinator (koordinator 1.8 `apis/extension/elastic_quota.go`)."""

from __future__ import annotations

import msgspec

from descheduler.model.requests import ResourceList

QUOTA_DOMAIN = "quota.scheduling.koordinator.sh"
QUOTA_LABEL = f"{QUOTA_DOMAIN}/name"
"""The label by which a pod names its quota."""
PREEMPTIBLE_LABEL = f"{QUOTA_DOMAIN}/preemptible"
"""`false` on a pod that no quota may take back; such pods get no more than the quota's min."""
QUOTA_ANNOTATIONS = tuple(f"{QUOTA_DOMAIN}/{name}" for name in ("shared-weight", "namespaces", "total-resource"))
"""Annotations of an ElasticQuota that say how it shares; all others are written by the scheduler."""

ROOT_QUOTA = "koordinator-root-quota"
SYSTEM_QUOTA = "koordinator-system-quota"
DEFAULT_QUOTA = "koordinator-default-quota"


class ElasticQuota(msgspec.Struct, frozen=True):
    """One ElasticQuota. Amounts are in nano units; a resource that `max` does not name is not limited.

    `parent` is `ROOT_QUOTA` where none is named. `shared_weight` is the annotation's, or `max` where that is missing,
    invalid or zero. `lends` says that others may use what of `min` it does not request. `total` is what the tree that
    it is the root of has (`is_tree_root`), None where nothing readable is said; with `ignores_default_tree` that is not
    taken off the default tree. `namespaces` are those whose pods are its own.
    """

    name: str
    namespace: str = ""
    min: ResourceList = {}
    max: ResourceList = {}
    shared_weight: ResourceList = {}
    parent: str = ROOT_QUOTA
    is_parent: bool = False
    lends: bool = True
    tree_id: str = ""
    is_tree_root: bool = False
    ignores_default_tree: bool = False
    namespaces: tuple[str, ...] = ()
    total: ResourceList | None = None
    is_deleted: bool = False
