"""`PodTopologySpread`: domains with fewer of the pods that belong together are better.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/scoring.go` (1.36).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreError, Scores
from descheduler.placement.plugins.helper.score_arithmetic import MAX_SCORE, tdiv
from descheduler.placement.plugins.pod_topology_spread.args import PodTopologySpreadArgs
from descheduler.placement.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadConstraints
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.pod_tally import PodsPerNode
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.topology import HOSTNAME_KEY

__all__ = ["PodTopologySpreadScore"]

Nodes = NDArray[np.intp]


class PodTopologySpreadScore:
    """Scores by the constraints that say `ScheduleAnyway`, or by the profile's defaults."""

    name = "PodTopologySpread"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._groups = cluster.follow(PodCounts)
        self._constraints = SpreadConstraints(cluster, profile.args.of(PodTopologySpreadArgs))
        self._soft: dict[PlacementClass, tuple[SpreadConstraint, ...]] = {}

    def score(self, cycle: Cycle, nodes: Nodes) -> Scores | None:
        """None for pods without soft constraints. Nodes that lack a key count as not scored, which gives 0."""
        constraints = self._soft_constraints(cycle.pod)
        if not constraints:
            return None
        has_key = [_has_key(constraint, nodes) for constraint in constraints]
        scored = None
        if self._constraints.requires_all_keys(cycle.pod.pod):
            not_everywhere = [has_it for has_it in has_key if has_it is not None]
            scored = np.logical_and.reduce(not_everywhere) if not_everywhere else None
        sums = np.zeros(len(nodes), dtype=np.float64)
        for constraint, has_it in zip(constraints, has_key, strict=True):
            cost = self._cost(constraint, nodes, scored)
            sums += cost if has_it is None else cost * has_it
        # Halves are rounded upwards, as Go rounds what is not below 0.
        whole = np.floor(sums)
        raw = (whole + (sums - whole >= 0.5)).astype(np.int64)
        if scored is None:
            return Scores(_normalised(raw), raw)
        final, raw = np.zeros_like(raw), raw * scored
        final[scored] = _normalised(raw[scored])
        return Scores(final, raw)

    def _cost(self, constraint: SpreadConstraint, nodes: Nodes, scored: BoolMask | None) -> NDArray[np.float64]:
        """What the pods in a node's domain cost it; small topologies are not to be drowned by large ones.

        `scored` is None when every node is.
        """
        among = nodes if scored is None else nodes[scored]
        counts = self._groups.counts(constraint.query)
        if constraint.topology_key == HOSTNAME_KEY:
            return _cost_of(counts.take(nodes), len(among), constraint)
        domains = constraint.counted.domains
        there = domains.marks()
        there[domains.ids_with_blank.take(among)] = True
        by_domain = _cost_of(constraint.counted.sums(counts), int(there.sum()), constraint)
        return by_domain.take(domains.ids.take(nodes), mode="wrap")

    def _soft_constraints(self, incoming: PlacementClass) -> tuple[SpreadConstraint, ...]:
        known = self._soft.get(incoming)
        if known is None:
            try:
                known = self._constraints.of(incoming.pod, "ScheduleAnyway")
            except ValueError as error:
                raise ScoreError(f"obtaining pod's soft topology spread constraints: {error}") from error
            self._soft[incoming] = known
        return known


def _has_key(constraint: SpreadConstraint, nodes: Nodes) -> BoolMask | None:
    """Which of `nodes` have the key; None where all do."""
    domains = constraint.counted.domains
    if domains.is_everywhere:
        return None
    has_it = domains.has_key.take(nodes)
    return None if has_it.all() else has_it


def _cost_of(pods: PodsPerNode, num_domains: int, constraint: SpreadConstraint) -> NDArray[np.float64]:
    cost: NDArray[np.float64] = np.multiply(pods, math.log(num_domains + 2), dtype=np.float64)
    return cost + float(constraint.max_skew - 1)


def _normalised(raw: NDArray[np.int64]) -> NDArray[np.int64]:
    most, least = int(raw.max(initial=0)), int(raw.min()) if len(raw) else 0
    if most == 0:
        return np.full(len(raw), MAX_SCORE, dtype=np.int64)
    return tdiv(MAX_SCORE * (most + least - raw), most)
