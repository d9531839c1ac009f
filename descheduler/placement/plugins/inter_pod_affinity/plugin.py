"""What runs as `InterPodAffinity`, and its score: nodes near the pods that the incoming pod likes, or that like it, are
better.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/scoring.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault, Percent
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.helper.scores import MAX_SCORE
from descheduler.placement.plugins.inter_pod_affinity.filter import (
    AffinityFault,
    AffinityInteractions,
    AffinityTerms,
    InterPodAffinity,
)
from descheduler.placement.plugins.inter_pod_affinity.term_holders import HeldTerm, TermHolders, TermKind
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import PodQuery, PodSum
from descheduler.placement.shadow.topology import Topology
from descheduler.policy.shared_args import Args


class InterPodAffinityArgs(Args, frozen=True):
    """`InterPodAffinityArgs`."""

    hard_pod_affinity_weight: Percent = 1
    """0 to 100: what a required affinity of an existing pod counts for when it means the incoming one."""
    ignore_preferred_terms_of_existing_pods: bool = False
    """Whether pods without preferred terms of their own are not scored at all."""


def _read(block: ArgsBlock, section: InterPodAffinityArgs) -> InterPodAffinityArgs:
    return section


def _shown(args: InterPodAffinityArgs) -> Mapping[str, object]:
    return {
        "hardPodAffinityWeight": args.hard_pod_affinity_weight,
        "ignorePreferredTermsOfExistingPods": args.ignore_preferred_terms_of_existing_pods,
    }


_ARGS = ArgsKind(InterPodAffinityArgs, _read, InterPodAffinityArgs, _shown)


class InterPodAffinityScore:
    """Scores by the preferred terms of both sides, and by the required affinity of the pods that are there."""

    name = "InterPodAffinity"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(InterPodAffinityArgs)
        self._hard_weight = args.hard_pod_affinity_weight
        self._needs_preferences = args.ignore_preferred_terms_of_existing_pods
        self._num_nodes = len(cluster.table)
        self._groups = cluster.follow(PodCounts)
        self._holders = cluster.follow(TermHolders)
        self._terms = AffinityTerms(cluster, profile.release(cluster.version))
        self._topology = Topology(cluster.table)
        self._preferred: dict[PlacementClass, Mapping[str, PodSum]] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """None when no term concerns the pod."""
        preferred = self._preferred_by(cycle.pod)
        if self._needs_preferences and not preferred:
            return None
        by_key: dict[str, NDArray[np.int64]] = {}
        for key, meant in preferred.items():
            found = self._groups.found(meant)
            self._column(by_key, key)[found.nodes] += found.numbers
        for term in self._holders.matching(cycle.pod).scoring:
            weight = self._weight(term)
            if weight and term.holders:
                self._column(by_key, term.topology_key)[term.nodes()] += weight * term.counts()
        if not by_key:
            return None
        raw = np.zeros(self._num_nodes, dtype=np.int64)
        for key, weights in by_key.items():
            raw += self._sums_by_domain(key, weights).take(self._topology.domains(key).ids)
        return Scores(_normalised(raw, raw[feasible]), lambda: raw)

    def _column(self, by_key: dict[str, NDArray[np.int64]], key: str) -> NDArray[np.int64]:
        column = by_key.get(key)
        if column is None:
            column = by_key[key] = np.zeros(self._num_nodes, dtype=np.int64)
        return column

    def _sums_by_domain(self, key: str, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sums over the nodes of each domain, 0 for nodes without the key; exact as long as they are below 2^53."""
        domains = self._topology.domains(key)
        sums = np.bincount(domains.ids, weights=weights, minlength=domains.num + 1).astype(np.int64)
        sums[domains.num] = 0
        return sums

    def _weight(self, term: HeldTerm) -> int:
        return self._hard_weight if term.kind is TermKind.REQUIRED_AFFINITY else term.weight

    def _preferred_by(self, incoming: PlacementClass) -> Mapping[str, PodSum]:
        """By topology key, the pods that preferred terms of a placement class mean, with the weights of these."""
        known = self._preferred.get(incoming)
        if known is None:
            known = self._preferred[incoming] = self._resolved(incoming.pod)
        return known

    def _resolved(self, pod: Pod) -> Mapping[str, PodSum]:
        affinity = pod.spec.affinity
        if affinity is None:
            return {}
        weighted = (
            *((each.weight, each.term) for each in affinity.pod_preferred),
            *((-each.weight, each.term) for each in affinity.anti_preferred),
        )
        by_key: dict[str, list[tuple[int, PodQuery]]] = {}
        for weight, term in weighted:
            by_key.setdefault(term.topology_key, []).append((weight, self._terms.query(pod, (term,))))
        return {key: PodSum(parts) for key, parts in by_key.items()}


def _normalised(raw: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 for the least score to 100 for the greatest of `among`, cut to whole numbers; all 0 when they are equal."""
    least, most = int(among.min()), int(among.max())
    if least == most:
        return np.zeros(len(raw), dtype=np.int64)
    return (float(MAX_SCORE) * ((raw - least) / (most - least))).astype(np.int64)


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
        holders = [_placed(pod, node, refused) for pod, node in near if term.is_held_by(pod)]
        if holders:
            have, domain = "has" if len(holders) == 1 else "have", _domain(refused, term.topology_key)
            yield f"{listed(holders)} {have} required anti-affinity against this pod ({domain})"


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
    args=_ARGS,
    interactions=lambda _: AffinityInteractions(),
    explain=_explain_pod_affinity,
    reads_kinds=frozenset({"Namespace"}),
    about=About(
        check="Required pod affinity and anti-affinity, of the pod and, for anti-affinity, of the pods that are there.",
        preference="Nodes that meet more preferred terms of pod affinity and anti-affinity, by weight.",
        reasons=tuple(fault.reason for fault in AffinityFault),
    ),
)
