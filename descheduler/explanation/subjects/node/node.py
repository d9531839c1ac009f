"""A node: which pods leave it, which stay and why, which replacements come, and what blocks a drain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import find_node
from descheduler.explanation.landings import count_landings, landing_message, verdict_word
from descheduler.explanation.moved_cluster import MovedCluster
from descheduler.explanation.subjects.node.document import (
    BatchFigures,
    Departure,
    DrainBlocker,
    ExpectedArrival,
    NodeDevices,
    NodeExplanation,
    NodeFacts,
    NodeLanding,
    NodeResource,
    NotSelected,
    Stay,
    StayCount,
)
from descheduler.explanation.subjects.node.drain import blocked_in_run, drain_blockers, policy_blockers
from descheduler.explanation.subjects.node.table import node_table
from descheduler.explanation.watched_run import PluginMiss, WatchedRun, plugin_misses
from descheduler.model.koordinator.batch_resources import BATCH_NAMES, batch_resources
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.resource_claims import SLICE_KIND
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.text.counted import most_first
from descheduler.model.verdict import Reason
from descheduler.placement.landings.landing import Landing
from descheduler.placement.plugins.dynamic_resources.inventory import DeviceInventory
from descheduler.placement.plugins.taint_toleration import taint_text
from descheduler.placement.shadow.node_table import PODS_ROW, NodeTable, amount
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy
from descheduler.report.identities import reference
from descheduler.report.plan.landings import landing_causes

_MOST_SAID = 5
"""Sentences about pods that no plugin selects."""
_UNWANTED = "no plugin selects the pod"
_SUMMARIES = {"": _UNWANTED, **{str(reason.value): reason.summary for reason in Reason}}


def pods_of(node: Node, snapshot: Snapshot) -> tuple[Pod, ...]:
    """The pods of `node` that have not finished, in namespace and name order."""
    return tuple(pod for pod in snapshot.pods_by_node.get(node.name, ()) if not pod.is_terminal)


def explain_node(
    node: Node, snapshot: Snapshot, settings: SchedulingSettings, now: datetime
) -> tuple[NodeExplanation, tuple[str, ...]]:
    """The explanation of `node` without a policy: where each of its pods would go by itself, and warnings."""
    moved = MovedCluster(snapshot, settings, now=now)
    landings = [(pod, moved.landing_of(pod)) for pod in pods_of(node, snapshot)]
    cluster = ShadowCluster(snapshot, version=settings.version)
    explanation = NodeExplanation(
        facts=node_facts(node, cluster, cluster),
        role="without policy",
        unjudged="",
        departures=(),
        stays=(),
        stay_counts=(),
        not_selected=(),
        arrivals=(),
        pending_pods=(),
        landings=tuple(_landing(pod, landing) for pod, landing in landings),
        landing_counts=count_landings(landing for _, landing in landings),
        causes=tuple(landing_causes([landing for _, landing in landings])),
        drain_blockers=tuple(drain_blockers(pods_of(node, snapshot), snapshot)),
        blocked_in_run="",
    )
    return explanation, moved.warnings


def explain_node_after(
    node: Node,
    snapshot: Snapshot,
    settings: SchedulingSettings,
    run: WatchedRun,
    blockers: Iterable[DrainBlocker],
) -> tuple[NodeExplanation, tuple[str, ...]]:
    """The explanation of `node` by one run of a policy, with what blocks draining it by the policy, and warnings."""
    booked = run.decisions.leaving
    cluster, books_likely = run.decisions.snapshot, not run.decisions.is_verified
    moved = MovedCluster(cluster, settings, now=run.decisions.now, books_likely=books_likely, held=run.held)
    landings = moved.book_all(eviction.pod for eviction in booked)
    own = [landing for landing in landings if landing.victim.node_name == node.name]
    leaving = {id(eviction.pod) for eviction in booked}
    stays = [stay for pod in pods_of(node, snapshot) if id(pod) not in leaving for stay in _stays(pod, run)]
    num_staying = sum(id(pod) not in leaving for pod in pods_of(node, snapshot))
    with moved.settled() as after:
        facts = node_facts(node, ShadowCluster(snapshot, version=settings.version), after)
    explanation = NodeExplanation(
        facts=facts,
        role="judged" if _is_judged(node, run.decisions.policy) else "left out",
        unjudged=run.decisions.skipped,
        departures=tuple(_departures(node, booked, landings)),
        stays=tuple(stays),
        stay_counts=_stay_counts(stays, num_staying),
        not_selected=_not_selected([pod for pod in pods_of(node, snapshot) if id(pod) not in leaving], run),
        arrivals=tuple(_arrivals(node, booked, landings)),
        pending_pods=tuple(map(reference, moved.pending_on(node.name))),
        landings=(),
        landing_counts=count_landings(own),
        causes=tuple(landing_causes(own)),
        drain_blockers=tuple(blockers),
        blocked_in_run=blocked_in_run(node, run.decisions),
    )
    return explanation, moved.warnings


def _is_judged(node: Node, policy: Policy) -> bool:
    return node.is_ready and (policy.node_selector or EVERYTHING).matches(node.labels)


def _departures(node: Node, booked: Sequence[Move], landings: Sequence[Landing]) -> Iterator[Departure]:
    for eviction, landing in zip(booked, landings, strict=True):
        if eviction.pod.node_name == node.name:
            yield Departure(
                pod=reference(eviction.pod),
                profile=eviction.profile,
                plugin=eviction.plugin,
                reason=eviction.reason,
                landing=verdict_word(landing),
                to_node=landing.node,
                message=landing_message(landing),
            )


def _arrivals(node: Node, booked: Sequence[Move], landings: Sequence[Landing]) -> Iterator[ExpectedArrival]:
    for eviction, landing in zip(booked, landings, strict=True):
        if landing.node == node.name:
            yield ExpectedArrival(
                pod=reference(eviction.pod),
                from_node=eviction.pod.node_name,
                plugin=eviction.plugin,
                landing=landing.verdict.value,
                nodes=landing.ties,
            )


def _stays(pod: Pod, run: WatchedRun) -> Iterator[Stay]:
    """The first rule that keeps a pod that some plugin wants gone; nothing for a pod that none asks for."""
    for answer in run.answers_about(pod)[:1]:
        yield Stay(
            pod=reference(pod),
            profile=answer.profile,
            plugin=answer.plugin,
            code=answer.code,
            message=answer.message,
            subject=answer.subject,
        )


def _stay_counts(stays: Iterable[Stay], num_staying: int) -> tuple[StayCount, ...]:
    """One entry a code, the most frequent first, and last the pods that no plugin selects."""
    counts = Counter(stay.code for stay in stays)
    in_order = most_first(counts)
    num_unwanted = num_staying - counts.total()
    in_order += [("", num_unwanted)] if num_unwanted else []
    return tuple(StayCount(code=code, summary=_SUMMARIES[code], num_pods=number) for code, number in in_order)


def _not_selected(pods: Iterable[Pod], run: WatchedRun) -> tuple[NotSelected, ...]:
    """What plugins say of those of `pods` that none of them selects, the most frequent sentences first."""
    said: dict[PluginMiss, list[Pod]] = {}
    for pod in pods:
        if not run.answers_about(pod):
            for miss in plugin_misses(pod, run.decisions, run.watch, frozenset()):
                said.setdefault(miss, []).append(pod)
    in_order = sorted(said.items(), key=lambda item: -len(item[1]))[:_MOST_SAID]
    return tuple(
        NotSelected(
            profile=miss.profile,
            plugin=miss.plugin,
            message=miss.message,
            num_pods=len(those),
            pod=reference(those[0]),
        )
        for miss, those in in_order
    )


def _landing(pod: Pod, landing: Landing) -> NodeLanding:
    return NodeLanding(
        pod=reference(pod),
        landing=verdict_word(landing),
        to_node=landing.node,
        message=landing_message(landing),
    )


_MEASURES = ("capacity", "margin", "reserved", "system_used", "pods_used", "pods_requested", "allocatable")


def node_facts(node: Node, cluster: ShadowCluster, after: ShadowCluster) -> NodeFacts:
    """The facts of `node`, in its cluster as it is and as it will be."""
    now = cluster.table
    place = now.index[node.name]
    planned = _requests(after.table, place)
    requested = _requests(now, place)
    return NodeFacts(
        name=node.name,
        is_ready=node.is_ready,
        is_cordoned=node.unschedulable,
        taints=tuple(taint_text(taint) for taint in node.taints),
        num_pods=int(now.requested[PODS_ROW, place]),
        resources=tuple(
            NodeResource(
                resource=name,
                allocatable=int(now.allocatable[now.row(name), place]),
                requested=requested.get(name, 0),
                planned=planned.get(name, 0),
            )
            for name in now.resources
            if now.allocatable[now.row(name), place] or requested.get(name) or planned.get(name)
        ),
        batch=tuple(_batch_figures(node, cluster.snapshot)),
        devices=tuple(_devices(node, cluster, after)),
    )


def _devices(node: Node, cluster: ShadowCluster, after: ShadowCluster) -> Iterator[NodeDevices]:
    if SLICE_KIND not in cluster.snapshot.kinds:
        return
    for now, then in zip(DeviceInventory(cluster).on(node), DeviceInventory(after).on(node), strict=True):
        yield NodeDevices(
            driver=now.driver,
            device_class=now.device_class,
            num_devices=now.total,
            in_use=now.in_use,
            shared=now.shared,
            tainted=now.tainted,
            unusable=now.unusable,
            free=now.free,
            planned_free=then.free,
        )


def _batch_figures(node: Node, snapshot: Snapshot) -> Iterator[BatchFigures]:
    pods, metric = snapshot.pods_by_node.get(node.name, ()), snapshot.node_metrics.get(node.name)
    for each in batch_resources(node, pods, metric, snapshot.taken_at):
        yield BatchFigures(
            resource=each.resource,
            published=amount(BATCH_NAMES[each.resource], each.published),
            limit=None if each.limit is None else amount(each.resource, each.limit),
            **{name: amount(each.resource, getattr(each, name)) for name in _MEASURES},
        )


def _requests(table: NodeTable, place: int) -> Mapping[str, int]:
    return {name: int(table.requested[row, place]) for row, name in enumerate(table.resources)}


def _answer(asked: Inquiry) -> Answer[NodeExplanation]:
    node = find_node(asked.snapshot, asked.name)
    run = asked.run(pods_of(node, asked.snapshot))
    if run is None:
        return Answer(*explain_node(node, asked.snapshot, asked.settings, asked.now))
    blockers = policy_blockers(node, asked, run.decisions.policy)
    explanation, warnings = explain_node_after(node, asked.snapshot, asked.settings, run, blockers)
    return Answer(explanation, (*run.notes, *warnings))


SUBJECT = Explained(NodeExplanation, _answer, node_table)
