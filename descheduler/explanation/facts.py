"""What a pod and a node are, as the snapshot has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.explanation.gangs import gang_facts
from descheduler.model.koordinator.batch_resources import BATCH_NAMES, batch_resources
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.plugins.taint_toleration.explain import taint_text
from descheduler.placement.shadow.node_table import PODS_ROW, NodeTable, amount
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.explanation.node import BatchFigures, NodeFacts, NodeResource
from descheduler.report.explanation.pod import PodFacts
from descheduler.report.identities import reference

__all__ = ["node_facts", "pod_facts"]

_MEASURES = ("capacity", "margin", "reserved", "system_used", "pods_used", "pods_requested", "allocatable")


def pod_facts(pod: Pod, cluster: ShadowCluster, now: datetime) -> PodFacts:
    """The facts of `pod` at the instant `now`."""
    owner = pod.controller
    names = cluster.table.resources
    return PodFacts(
        pod=reference(pod),
        node=pod.node_name or None,
        owner="" if owner is None else f"{owner.kind}/{owner.name}",
        priority=pod.priority,
        qos_class=pod.qos_class,
        phase=pod.phase,
        is_terminating=pod.is_terminating,
        age_seconds=None if pod.created_at is None else (now - pod.created_at).total_seconds(),
        scheduler=scheduler_name_of(pod),
        requests={names[row]: amount for row, amount in cluster.placement_class(pod).demand.amounts},
        gang=gang_facts(pod, cluster.snapshot),
    )


def node_facts(node: Node, snapshot: Snapshot, now: NodeTable, after: NodeTable) -> NodeFacts:
    """The facts of `node`, with its columns as they are and as they will be."""
    place = now.index[node.name]
    planned = _requested(after, place)
    requested = _requested(now, place)
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
        batch=tuple(_batch_figures(node, snapshot)),
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


def _requested(table: NodeTable, place: int) -> Mapping[str, int]:
    return {name: int(table.requested[row, place]) for row, name in enumerate(table.resources)}
