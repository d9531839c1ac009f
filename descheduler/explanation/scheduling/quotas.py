"""What an elastic quota may use, what its pods use, and how tables say it."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.documents.fields import Fields
from descheduler.model.koordinator.elastic_quota import ROOT_QUOTA
from descheduler.model.pod import Pod
from descheduler.model.requests import ceil_amount
from descheduler.model.text.amounts import amount_text
from descheduler.model.text.printable import printable
from descheduler.placement.framework.refused_node import Configured
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.elastic_quota import (
    BUILT_IN_MAX,
    ElasticQuotaArgs,
    ElasticQuotaPlugin,
    make_admission,
)
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import capped
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.tables.table_style import TableStyle


class QuotaResource(Fields, frozen=True):
    """One resource of an elastic quota: cpu in milli cores, all else in whole units.

    `max` is null for a resource that the quota does not limit. `runtime` is what its pods may use together now, null
    where that is not limited. `used` is what its placed pods request, `requested` what all of its pods do, the one that
    is explained among them; `pod` is what that one requests, 0 where a quota is explained by itself.
    """

    resource: str
    min: int
    max: int | None
    runtime: int | None
    used: int
    requested: int
    pod: int


class QuotaFacts(Fields, frozen=True):
    """An elastic quota. `parent` is empty directly below the root, `tree` for the default tree."""

    name: str
    parent: str
    tree: str
    resources: tuple[QuotaResource, ...]


_NO_LIMIT = min(nano for _, nano in BUILT_IN_MAX)


def quota_facts(cluster: ShadowCluster, scheduler: Configured, pod: Pod) -> QuotaFacts | None:
    """The quota that `scheduler` charges `pod` to, with what the pod requests in it; None where nothing limits it."""
    if not scheduler.runs(ElasticQuotaPlugin.name, "pre_filters"):
        return None
    admission = make_admission(cluster, scheduler.args_of(ElasticQuotaArgs))
    account = admission.usage.account_of(pod) if admission.usage.can_be_refused(pod) else None
    if account is None:
        return None
    requests = dict(zip(account.place.tree.resources, account.amounts.tolist(), strict=True))
    with admission.usage.incoming(account):
        return facts_in(admission, account.place, requests)


def facts_in(admission: QuotaAdmission, place: QuotaPlace, of_pod: dict[str, int]) -> QuotaFacts:
    """What the quota at `place` may use and uses; `of_pod` is what one pod requests of it, by resource."""
    quota, tree = place.quota, place.tree
    limit, used = admission.limit(place), admission.used(place)
    requested = dict(zip(tree.resources, tree.child_requests[place.index].tolist(), strict=True))
    resources = tuple(
        QuotaResource(
            resource=name,
            min=ceil_amount(name, quota.min.get(name, 0)),
            max=_most(name, quota.max.get(name)),
            runtime=limit.get(name),
            used=used.get(name, 0),
            requested=requested.get(name, 0),
            pod=of_pod.get(name, 0),
        )
        for name in sorted({*quota.max, *quota.min})
    )
    parent = "" if quota.parent == ROOT_QUOTA else quota.parent
    return QuotaFacts(name=quota.name, parent=parent, tree=quota.tree_id, resources=resources)


def _most(resource: str, nano: int | None) -> int | None:
    """A max in units; None where there is none, and for what koord-scheduler writes for none."""
    return None if nano is None or nano >= _NO_LIMIT else capped(ceil_amount(resource, nano))


def quota_table(quota: QuotaFacts, style: TableStyle) -> Iterator[str]:
    """What the quota of a pod may use, what its pods do, and what this one requests."""
    yield from quota_heading(quota, style)
    rows = [[*quota_amounts(each), amount_text(each.resource, each.pod)] for each in quota.resources]
    yield from style.table([*QUOTA_HEADER, "POD"], rows)


QUOTA_HEADER = ["RESOURCE", "MIN", "MAX", "RUNTIME", "USED", "REQUESTED"]


def quota_heading(quota: QuotaFacts, style: TableStyle) -> Iterator[str]:
    """The quota and its parent."""
    parent = f", parent {quota.parent}" if quota.parent else ""
    yield from style.heading(printable(f"Elastic quota {quota.name}{parent}"))


def quota_amounts(each: QuotaResource) -> list[str]:
    """The cells below `QUOTA_HEADER`."""
    return [
        each.resource,
        amount_text(each.resource, each.min),
        _limit(each.resource, each.max),
        _limit(each.resource, each.runtime),
        amount_text(each.resource, each.used),
        amount_text(each.resource, each.requested),
    ]


def _limit(resource: str, amount: int | None) -> str:
    return "unlimited" if amount is None else amount_text(resource, amount)
