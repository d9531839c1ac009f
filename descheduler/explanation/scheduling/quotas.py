"""Elastic quotas, for those who ask why a pod is not scheduled, or what a quota has left."""

from __future__ import annotations

from descheduler.documents.problems import did_you_mean, shown
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.moved_cluster import configuration_of
from descheduler.explanation.scheduling.quota_excess import Sharing, excess_notes
from descheduler.explanation.subjects import UnknownSubjectError
from descheduler.model.koordinator.elastic_quota import ROOT_QUOTA
from descheduler.model.pod import Pod
from descheduler.placement.framework.refused_node import Configured
from descheduler.placement.plugins.elastic_quota.admission import Admission
from descheduler.placement.plugins.elastic_quota.args import BUILT_IN_MAX, ElasticQuotaArgs
from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuota, make_admission
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaForest, QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT
from descheduler.placement.plugins.elastic_quota.units import capped, in_units
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.explanation.quota import QuotaExplanation, QuotaFacts, QuotaResource

__all__ = ["explain_quota", "quota_facts"]

_NO_LIMIT = min(nano for _, nano in BUILT_IN_MAX)
_MOST_OF_LOOP = 5


def quota_facts(cluster: ShadowCluster, scheduler: Configured, pod: Pod) -> QuotaFacts | None:
    """The quota that `scheduler` charges `pod` to, with what the pod requests in it; None where nothing limits it."""
    if not scheduler.runs(ElasticQuota.name, "pre_filters"):
        return None
    admission = make_admission(cluster, scheduler.args_of(ElasticQuotaArgs))
    account = admission.usage.account_of(pod) if admission.usage.can_be_refused(pod) else None
    if account is None:
        return None
    requests = dict(zip(account.place.tree.resources, account.amounts.tolist(), strict=True))
    with admission.usage.incoming(account):
        return _facts(admission, account.place, requests)


def explain_quota(name: str, cluster: ShadowCluster, settings: SchedulingSettings) -> QuotaExplanation:
    """The quota called `name`, and those below it, as the cluster is. Raises UnknownSubjectError."""
    profiles = configuration_of(settings).profiles
    running = [profile for profile in profiles if ElasticQuota.name in profile.pre_filters]
    args = running[0].args.of(ElasticQuotaArgs) if running else ElasticQuotaArgs()
    admission = make_admission(cluster, args)
    forest = admission.usage.forest
    place = forest.place(name)
    if place is None:
        hint = did_you_mean(name, [each.quota.name for each in forest.places])
        raise UnknownSubjectError(
            f"no elastic quota {shown(name)} in {cluster.snapshot.source or 'the snapshot'}{hint}"
        )
    admission.usage.settle()
    below = sorted((each for each in forest.places if _is_below(each, place)), key=lambda each: each.quota.name)
    facts, children = _facts(admission, place, {}), tuple(_facts(admission, child, {}) for child in below)
    if all(each.runtime == 0 for each in facts.resources) and (detached := _detached(place)):
        return QuotaExplanation(facts=facts, children=children, notes=(f"{name} has a runtime quota of 0: {detached}",))
    notes = excess_notes(facts, children, lambda quota, resource: _sharing(forest, quota.name, resource))
    return QuotaExplanation(facts=facts, children=children, notes=tuple(notes))


def _detached(place: QuotaPlace) -> str:
    """Why the parents that are stated do not lead to the root, so that nothing is shared out below; else empty."""
    tree, quota = place.tree, place.quota
    passed: dict[str, None] = {}
    while quota.parent not in ("", ROOT_QUOTA) and quota.name not in passed:
        passed[quota.name] = None
        if quota.parent not in tree.index:
            whose = "its parent" if len(passed) == 1 else "the parent"
            of = "" if len(passed) == 1 else f" of {quota.name}"
            return f"{whose} {quota.parent}{of} does not exist"
        quota = tree.quotas[tree.index[quota.parent]]
    if quota.name not in passed:
        return ""
    loop = [*passed][list(passed).index(quota.name) :]
    more = ["..."] if len(loop) > _MOST_OF_LOOP else []
    return f"its parents form a loop ({', '.join([*loop[:_MOST_OF_LOOP], *more, quota.name])})"


def _sharing(forest: QuotaForest, name: str, resource: str) -> Sharing:
    """What the quota called `name` and its siblings share of `resource`."""
    place = forest.place(name)
    assert place is not None  # noqa: S101 - the facts are of a place
    tree, column = place.tree, place.tree.resources.index(resource)
    parent = tree.parents[place.index]
    total = place.runtime.total if parent == NO_PARENT else place.runtime.of(parent)
    siblings = (each for each in forest.places if _are_siblings(each, place))
    return Sharing(int(total[column]), {each.quota.name: int(each.runtime.of(each.index)[column]) for each in siblings})


def _are_siblings(one: QuotaPlace, other: QuotaPlace) -> bool:
    """Whether two quotas share the same amounts; built-in ones take theirs first."""
    tree = one.tree
    if tree is not other.tree or one.is_built_in or one.quota.parent != other.quota.parent:
        return False
    return tree.parents[one.index] == tree.parents[other.index]


def _is_below(child: QuotaPlace, parent: QuotaPlace) -> bool:
    return child.tree is parent.tree and child.tree.parents[child.index] == parent.index


def _facts(admission: Admission, place: QuotaPlace, of_pod: dict[str, int]) -> QuotaFacts:
    quota, tree = place.quota, place.tree
    limit, used = admission.limit(place), admission.used(place)
    requested = dict(zip(tree.resources, tree.child_requests[place.index].tolist(), strict=True))
    resources = tuple(
        QuotaResource(
            resource=name,
            min=in_units(name, quota.min.get(name, 0)),
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
    return None if nano is None or nano >= _NO_LIMIT else capped(in_units(resource, nano))
