"""The elastic quota of a pod, for those who ask why it is not scheduled."""

from __future__ import annotations

from descheduler.model.koordinator.elastic_quota import ROOT_QUOTA
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.elastic_quota.admission import Admission
from descheduler.placement.plugins.elastic_quota.args import ElasticQuotaArgs
from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuota, make_admission
from descheduler.placement.plugins.elastic_quota.quota_usage import QuotaAccount
from descheduler.placement.plugins.elastic_quota.units import capped, in_units
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.explanation.quota import QuotaFacts, QuotaResource

__all__ = ["quota_facts"]


def quota_facts(cluster: ShadowCluster, profile: SchedulerProfile, pod: Pod) -> QuotaFacts | None:
    """The quota that `profile` charges `pod` to, with what the pod requests in it; None where nothing limits it."""
    if ElasticQuota.name not in profile.pre_filters:
        return None
    admission = make_admission(cluster, profile.args.of(ElasticQuotaArgs))
    account = admission.usage.account_of(pod) if admission.usage.can_be_refused(pod) else None
    if account is None:
        return None
    quota, tree_id = account.place.quota, account.place.quota.tree_id
    with admission.usage.incoming(account):
        resources = _resources(admission, account)
    parent = "" if quota.parent == ROOT_QUOTA else quota.parent
    return QuotaFacts(name=quota.name, parent=parent, tree=tree_id, resources=resources)


def _resources(admission: Admission, account: QuotaAccount) -> tuple[QuotaResource, ...]:
    place = account.place
    quota, tree = place.quota, place.tree
    limit, used = admission.limit(place), admission.used(place)
    requested = dict(zip(tree.resources, tree.child_requests[place.index].tolist(), strict=True))
    own = dict(zip(tree.resources, account.amounts.tolist(), strict=True))
    return tuple(
        QuotaResource(
            resource=name,
            min=in_units(name, quota.min.get(name, 0)),
            max=capped(in_units(name, quota.max[name])) if name in quota.max else None,
            runtime=limit.get(name),
            used=used.get(name, 0),
            requested=requested.get(name, 0),
            pod=own.get(name, 0),
        )
        for name in sorted({*quota.max, *quota.min})
    )
