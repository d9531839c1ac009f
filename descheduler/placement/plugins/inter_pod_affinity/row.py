"""What runs as `InterPodAffinity`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.inter_pod_affinity.args import ARGS
from descheduler.placement.plugins.inter_pod_affinity.filter import (
    AffinityFault,
    AffinityInteractions,
    InterPodAffinity,
)
from descheduler.placement.plugins.inter_pod_affinity.score import InterPodAffinityScore
from descheduler.placement.plugins.inter_pod_affinity.term_holders import HeldTerm, TermHolders
from descheduler.placement.plugins.inter_pod_affinity.terms import AffinityTerms

__all__ = ["ROW"]


def _explain_pod_affinity(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Which pods it must not meet, or that none of those is near that it has to be with."""
    affinity = refused.pod.spec.affinity
    if AffinityFault.EXISTING_ANTI_AFFINITY in obstacle.facts:
        yield from _repelled(refused)
    elif affinity is not None and AffinityFault.ANTI_AFFINITY in obstacle.facts:
        yield from _avoided(refused, affinity.anti_required)
    elif affinity is not None:
        yield from _lonely(refused, affinity.pod_required)


def _repelled(refused: RefusedNode) -> Iterator[str]:
    for term in refused.cycle.cluster.follow(TermHolders).matching(refused.cycle.pod).repelling:
        near = refused.pods_around(term.topology_key) if term.holders else ()
        holders = [_placed(pod, node, refused) for pod, node in near if _holds(pod, term)]
        if holders:
            domain = _domain(refused, term.topology_key)
            yield f"{listed(holders)} has required anti-affinity against this pod ({domain})"


def _avoided(refused: RefusedNode, terms: Iterable[PodAffinityTerm]) -> Iterator[str]:
    queries = AffinityTerms(refused.cycle.cluster, refused.cycle.cluster.version)
    for term in terms:
        query = queries.query(refused.pod, (term,))
        met = [
            _placed(pod, node, refused)
            for pod, node in refused.pods_around(term.topology_key)
            if query.covers(pod.namespace, pod.labels)
        ]
        if met:
            yield f"violates required anti-affinity with {listed(met)} ({_domain(refused, term.topology_key)})"


def _lonely(refused: RefusedNode, terms: Iterable[PodAffinityTerm]) -> Iterator[str]:
    queries = AffinityTerms(refused.cycle.cluster, refused.cycle.cluster.version)
    terms = tuple(terms)
    company = queries.query(refused.pod, terms)
    for key in dict.fromkeys(term.topology_key for term in terms):
        if key not in refused.node.labels:
            yield f"has no label {key}, the topologyKey of the required pod affinity"
        elif not any(company.covers(pod.namespace, pod.labels) for pod, _ in refused.pods_around(key)):
            yield f"no pod that matches the required pod affinity in {_domain(refused, key)}"


def _holds(pod: Pod, term: HeldTerm) -> bool:
    affinity = pod.spec.affinity
    return affinity is not None and any(
        held.topology_key == term.topology_key and held.selector == term.selector for held in affinity.anti_required
    )


def _placed(pod: Pod, node: Node, refused: RefusedNode) -> str:
    return pod.key if node is refused.node else f"{pod.key} on {node.name}"


def _domain(refused: RefusedNode, key: str) -> str:
    return f"{key}={refused.node.labels.get(key, '')}"


ROW = SchedulingPlugin(
    plugin=InterPodAffinity,
    is_optional=True,
    score=InterPodAffinityScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    by_default=ByDefault(weight=2),
    prepared_for=frozenset({"filter", "score"}),
    args=ARGS,
    interactions=lambda _: AffinityInteractions(),
    explain=_explain_pod_affinity,
    reads_kinds=frozenset({"Namespace"}),
    about=About(
        check="Required pod affinity and anti-affinity, of the pod and, for anti-affinity, of the pods that are there.",
        preference="Nodes that meet more preferred terms of pod affinity and anti-affinity, by weight.",
        reasons=tuple(fault.reason for fault in AffinityFault),
    ),
)
