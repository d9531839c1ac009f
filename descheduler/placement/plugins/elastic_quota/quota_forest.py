"""All quotas of a cluster: the trees, which quota a pod has, and what each tree shares out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from descheduler.model.koordinator.elastic_quota import (
    DEFAULT_QUOTA,
    QUOTA_LABEL,
    ROOT_QUOTA,
    SYSTEM_QUOTA,
    ElasticQuota,
)
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList
from descheduler.placement.plugins.elastic_quota.quota_tree import QuotaTree
from descheduler.placement.plugins.elastic_quota.runtime_quota import RuntimeQuota


class ForestSettings(msgspec.Struct, frozen=True):
    """Arguments and feature gates of koord-scheduler on which the sums of quotas hang, see ElasticQuotaArgs."""

    default_max: tuple[tuple[str, int], ...]
    """Resource and nano units, by name."""
    system_max: tuple[tuple[str, int], ...]
    uses_runtime: bool = True
    """Whether the runtime quota is the limit, which the default and the system quota do not have; else it is max."""
    scales_mins: bool = True
    has_trees: bool = False
    """Gate MultiQuotaTree."""
    guarantees_usage: bool = False
    """Gate ElasticQuotaGuaranteeUsage."""
    has_default: bool = True
    """Not gate DisableDefaultQuota."""


class QuotaShares(NamedTuple):
    """One tree: its sums and what they make of its total."""

    tree: QuotaTree
    runtime: RuntimeQuota


class QuotaPlace(msgspec.Struct, frozen=True):
    """A quota: its tree, with what that shares out, and its index there."""

    tree: QuotaTree
    runtime: RuntimeQuota
    index: int

    @property
    def quota(self) -> ElasticQuota:
        """The quota itself."""
        return self.tree.quotas[self.index]

    @property
    def is_built_in(self) -> bool:
        """Whether it is the default or the system quota."""
        return self.quota.name in (DEFAULT_QUOTA, SYSTEM_QUOTA)


class QuotaForest:
    """The quotas of a cluster with `nodes`. Names are global: of two quotas with one name the first counts."""

    def __init__(self, quotas: Iterable[ElasticQuota], nodes: Iterable[Node], settings: ForestSettings) -> None:
        self._has_default = settings.has_default
        known = _by_name(quotas)
        self.is_idle = settings.uses_runtime and not known.keys() - {DEFAULT_QUOTA, SYSTEM_QUOTA, ROOT_QUOTA}
        """Whether nothing is ever limited: there are no quotas but those that koord-scheduler makes for itself."""
        self._own_namespaces = {quota.name for quota in known.values() if quota.namespace == quota.name}
        self._listed_namespaces = _listed_namespaces(known.values())
        by_tree: dict[str, list[ElasticQuota]] = {"": list(_built_in(known, settings))}
        for quota in known.values():
            if quota.name not in (DEFAULT_QUOTA, SYSTEM_QUOTA, ROOT_QUOTA):
                by_tree.setdefault(quota.tree_id if settings.has_trees else "", []).append(quota)
        totals = _totals(by_tree, nodes)
        self.trees = {
            tree_id: _shares(members, totals.get(tree_id, {}), settings) for tree_id, members in by_tree.items()
        }
        self._places = {
            quota.name: QuotaPlace(tree, runtime, index)
            for tree, runtime in self.trees.values()
            for index, quota in enumerate(tree.quotas)
        }
        self.totals: Mapping[str, ResourceList] = totals

    @property
    def places(self) -> Iterable[QuotaPlace]:
        """All quotas, the default and the system quota among them, the root not."""
        return self._places.values()

    def place(self, name: str) -> QuotaPlace | None:
        """Where the quota of this name is; None when there is none."""
        return self._places.get(name)

    def name_for(self, pod: Pod) -> str:
        """The name of the quota that `pod` is to have, which need not exist; empty for none."""
        label = pod.labels.get(QUOTA_LABEL, "")
        if label or not self._has_default:
            return label
        if pod.namespace in self._own_namespaces:
            return pod.namespace
        return self._listed_namespaces.get(pod.namespace, DEFAULT_QUOTA)

    def place_of(self, pod: Pod) -> QuotaPlace | None:
        """The quota of `pod`: that of its label, of its namespace, or the default quota, also for an unknown name."""
        place = self._places.get(self.name_for(pod))
        return place if place is not None or not self._has_default else self._places[DEFAULT_QUOTA]


def _by_name(quotas: Iterable[ElasticQuota]) -> dict[str, ElasticQuota]:
    known: dict[str, ElasticQuota] = {}
    for quota in quotas:
        if not quota.is_deleted:
            known.setdefault(quota.name, quota)
    return known


def _listed_namespaces(quotas: Iterable[ElasticQuota]) -> Mapping[str, str]:
    """Namespace → name of the quota that lists it; koord-scheduler takes any of several, here it is the first."""
    listed: dict[str, str] = {}
    for quota in sorted(quotas, key=lambda quota: quota.name):
        for namespace in quota.namespaces:
            listed.setdefault(namespace, quota.name)
    return listed


def _built_in(known: Mapping[str, ElasticQuota], settings: ForestSettings) -> Iterable[ElasticQuota]:
    """The default and the system quota, as they are in the cluster, or as koord-scheduler creates them."""
    for name, amounts in ((DEFAULT_QUOTA, settings.default_max), (SYSTEM_QUOTA, settings.system_max)):
        yield known.get(name) or ElasticQuota(name, max=dict(amounts), shared_weight=dict(amounts))


def _totals(by_tree: Mapping[str, Iterable[ElasticQuota]], nodes: Iterable[Node]) -> dict[str, ResourceList]:
    """What each tree shares out, in nano units: what its root says; the default tree has what is left of the nodes."""
    rest: dict[str, int] = {}
    for node in nodes:
        for name, nano in node.for_pods.items():
            rest[name] = rest.get(name, 0) + nano
    totals: dict[str, ResourceList] = {"": rest}
    for tree_id, members in by_tree.items():
        for quota in members:
            if tree_id and quota.is_tree_root and quota.total is not None:
                totals[tree_id] = quota.total
                if not quota.ignores_default_tree:
                    for name, nano in quota.total.items():
                        rest[name] = rest.get(name, 0) - nano
    return totals


def _shares(quotas: Iterable[ElasticQuota], total: ResourceList, settings: ForestSettings) -> QuotaShares:
    tree = QuotaTree(tuple(quotas), guarantees_usage=settings.guarantees_usage)
    return QuotaShares(tree, RuntimeQuota(tree, total, scales_mins=settings.scales_mins))
