"""`PodTopologySpread`: no domain may hold many more of the pods that belong together than the emptiest one.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/filtering.go` (1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework import SKIP, Code, Cycle, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.pod_groups import PodGroups
from descheduler.placement.pod_tally import PodCounts
from descheduler.placement.spread_constraints import SpreadConstraint, SpreadConstraints

if TYPE_CHECKING:
    from descheduler.placement.incoming import Incoming
    from descheduler.placement.shadow_cluster import ShadowCluster
    from descheduler.policy.scheduler_profile import SchedulerProfile

__all__ = ["PodTopologySpread"]

_TOO_MANY, _NO_KEY = 1, 2
_REASON = "node(s) didn't match pod topology spread constraints"


class PodTopologySpread:
    """Filters by the constraints that say `DoNotSchedule`. A node has one reason: that of the first one it breaks."""

    name = "PodTopologySpread"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._groups = cluster.follow(PodGroups)
        self._constraints = SpreadConstraints(cluster, profile.args.pod_topology_spread)
        self._hard: dict[Incoming, tuple[SpreadConstraint, ...]] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Skips pods without hard constraints, and refuses those with one that cannot be read."""
        try:
            constraints = self._hard_constraints(cycle.pod)
        except ValueError as error:
            reason = f"obtaining pod's hard topology spread constraints: {error}"
            return PreFilterResult(Obstacle(self.name, Code.UNRESOLVABLE, (reason,)))
        return PreFilterResult() if constraints else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The reason against each node."""
        against: ReasonBits | None = None
        for constraint in self._hard_constraints(cycle.pod):
            reasons = _reasons_by_domain(constraint, self._groups.counts(constraint.query))
            found = reasons[constraint.counted.domains.ids]
            if against is None:
                against = found
            else:
                np.copyto(against, found, where=against == 0)
        return against if against is not None and against.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words for `bits`."""
        if bits & _NO_KEY:
            return Obstacle(self.name, Code.UNRESOLVABLE, (f"{_REASON} (missing required label)",))
        return Obstacle(self.name, Code.UNSCHEDULABLE, (_REASON,))

    def _hard_constraints(self, incoming: Incoming) -> tuple[SpreadConstraint, ...]:
        known = self._hard.get(incoming)
        if known is None:
            known = self._hard[incoming] = self._constraints.of(incoming.pod, "DoNotSchedule")
        return known


def _reasons_by_domain(constraint: SpreadConstraint, counts: PodCounts) -> NDArray[np.uint32]:
    """The reason against the nodes of each domain, and last against those in none.

    A domain without eligible nodes counts no pods, and does not make the emptiest one.
    """
    counted = constraint.counted
    sums = counted.sums(counts)
    least = counted.least(sums) if counted.num and counted.num >= constraint.min_domains else 0
    is_too_many = sums > constraint.max_skew + least - constraint.is_self_matching
    reasons = np.multiply(is_too_many, _TOO_MANY, dtype=np.uint32)
    reasons[-1] = _NO_KEY
    return reasons
