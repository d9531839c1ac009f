"""An elastic quota of Koordinator, those below it, and why any uses more than its runtime quota."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from descheduler.documents.fields import Fields
from descheduler.documents.problems import did_you_mean, shown
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.scheduling.quotas import (
    QUOTA_HEADER,
    QuotaFacts,
    QuotaResource,
    facts_in,
    quota_amounts,
    quota_heading,
)
from descheduler.model.koordinator.elastic_quota import ROOT_QUOTA
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.elastic_quota.elastic_quota import (
    ElasticQuotaArgs,
    ElasticQuotaPlugin,
    make_admission,
)
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaForest, QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.tables.table_style import TableStyle


class QuotaExplanation(Fields, frozen=True):
    """Everything about one elastic quota. `children` are the quotas directly below it, by name.

    `notes` say why it or a child of it uses more than the runtime quota.
    """

    facts: QuotaFacts
    children: tuple[QuotaFacts, ...]
    notes: tuple[str, ...]


_MOST_OF_LOOP = 5


def explain_quota(name: str, cluster: ShadowCluster, settings: SchedulingSettings) -> QuotaExplanation:
    """The quota called `name`, and those below it, as the cluster is. Raises UnknownSubjectError."""
    profiles = settings.resolved().profiles
    running = [profile for profile in profiles if ElasticQuotaPlugin.name in profile.pre_filters]
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
    facts, children = facts_in(admission, place, {}), tuple(facts_in(admission, child, {}) for child in below)
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


_MOST_SHARES = 5


class Sharing(msgspec.Struct, frozen=True):
    """What a quota and its siblings share of one resource, and the runtime quota of each of them by name."""

    total: int
    runtimes: Mapping[str, int]


def excess_notes(
    facts: QuotaFacts, children: Sequence[QuotaFacts], sharing: Callable[[QuotaFacts, str], Sharing]
) -> Iterator[str]:
    """A sentence for each resource of which the quota, or a child of it, uses more than it may, and for each cause."""
    for each in facts.resources:
        if _excess(each) > 0:
            yield _excess_sentence(facts, each, children, sharing)
            borrowed = {child.name: _borrowed(child, each.resource) for child in children}
            if any(borrowed.values()):
                shown = ", ".join(f"{name} {amount_of(each.resource, n)}" for name, n in borrowed.items() if n)
                yield f"children of {facts.name} that use more than their min: {shown}"
    for child in children:
        for each in child.resources:
            if _excess(each) > 0:
                yield _excess_sentence(child, each, (), sharing)


def _excess(each: QuotaResource) -> int:
    return 0 if each.runtime is None else each.used - each.runtime


def _borrowed(quota: QuotaFacts, resource: str) -> int:
    return sum(max(0, each.used - each.min) for each in quota.resources if each.resource == resource)


def _excess_sentence(
    quota: QuotaFacts,
    each: QuotaResource,
    children: Sequence[QuotaFacts],
    sharing: Callable[[QuotaFacts, str], Sharing],
) -> str:
    resource, runtime = each.resource, each.runtime or 0
    lead = f"{quota.name} uses {amount_of(resource, _excess(each))} more than its runtime quota"
    if each.max is not None and each.used > each.max:
        return (
            f"{lead} and more than its max of {amount_text(resource, each.max)}: "
            "its pods were placed before the max was lowered, or by a scheduler that does not check quotas"
        )
    if runtime >= each.requested:
        asked = f"requests {amount_of(resource, each.requested)}"
        return f"{lead}: it {asked}, as each child counts up to its max" if children else f"{lead}: it {asked}"
    shares = sharing(quota, resource)
    borrowed = each.used - each.min
    cause = (
        f"it borrowed {amount_of(resource, borrowed)} over its min, which others request now or which is gone"
        if borrowed > 0
        else "there is not enough for the min of every quota"
    )
    return f"{lead}: {cause}; {amount_of(resource, shares.total)} in all are shared out as {_shown(resource, shares)}"


def _shown(resource: str, shares: Sharing) -> str:
    """The largest shares, and how many more there are."""
    in_order = sorted(((name, n) for name, n in shares.runtimes.items() if n), key=lambda share: (-share[1], share[0]))
    named = [f"{name} {amount_text(resource, amount)}" for name, amount in in_order[:_MOST_SHARES]]
    more = len(in_order) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])]) or "nothing"


def quota_explanation_table(explanation: QuotaExplanation, style: TableStyle) -> Iterator[str]:
    """What a quota may use and what its pods do, the same of those below it, and why any is over its limit."""
    facts = explanation.facts
    yield from quota_heading(facts, style)
    yield from style.table(QUOTA_HEADER, [quota_amounts(each) for each in facts.resources])
    rows = [[printable(child.name), *quota_amounts(each)] for child in explanation.children for each in child.resources]
    yield from style.table(["CHILD", *QUOTA_HEADER], rows)
    yield from style.notes(explanation.notes)


def _answer(asked: Inquiry) -> Answer[QuotaExplanation]:
    cluster = ShadowCluster(asked.snapshot, version=asked.settings.version)
    return Answer(explain_quota(asked.name, cluster, asked.settings))


SUBJECT = Explained(QuotaExplanation, _answer, quota_explanation_table)
