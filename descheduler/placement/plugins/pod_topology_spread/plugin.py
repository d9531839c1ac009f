"""PodTopologySpread: no domain may hold many more of the pods that belong together than the emptiest one.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/filtering.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.model.text.counted import counted
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import (
    PASS,
    SKIP_FOR_GOOD,
    PreFilterResult,
    ReasonBits,
    SpreadConstraint,
)
from descheduler.placement.framework.interactions import GatheredPods, Meeting
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.plugins.pod_topology_spread.constraints import ARGS, PodTopologySpreadArgs, SpreadConstraints
from descheduler.placement.plugins.pod_topology_spread.score import PodTopologySpreadScore
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import FoundPods

_HARD = "DoNotSchedule"


class _SpreadReason(ObstacleReason):
    """Why a domain takes no more of the pods."""

    TOO_MANY = (
        1,
        "node(s) didn't match pod topology spread constraints",
        "didn't match pod topology spread constraints",
    )
    NO_KEY = (
        2,
        "node(s) didn't match pod topology spread constraints (missing required label)",
        "didn't match pod topology spread constraints (missing required label)",
    )


class PodTopologySpread:
    """Filters by the constraints that say `DoNotSchedule`. A node has one reason: that of the first one it breaks."""

    name = "PodTopologySpread"
    is_static = False
    lasting = _SpreadReason.NO_KEY.bit

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._groups = cluster.follow(PodCounts)
        self._constraints = SpreadConstraints(cluster, profile.args.of(PodTopologySpreadArgs))
        self._hard: dict[PlacementClass, tuple[SpreadConstraint, ...]] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Skips pods without hard constraints, and refuses those with one that cannot be read."""
        try:
            constraints = self._hard_constraints(cycle.pod)
        except ValueError as error:
            reason = f"obtaining pod's hard topology spread constraints: {error}"
            return PreFilterResult(Obstacle(self.name, Code.UNRESOLVABLE, (reason,)))
        return PASS if constraints else SKIP_FOR_GOOD

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The reason against each node."""
        against: ReasonBits | None = None
        for constraint in self._hard_constraints(cycle.pod):
            reasons = _reasons_by_domain(constraint, self._groups.found(constraint.query))
            found = reasons[constraint.counted.domains.ids]
            if against is None:
                against = found
            else:
                np.copyto(against, found, where=against == 0)
        return against if against is not None and against.any() else None

    def may_open(self, cycle: Cycle) -> BoolMask:
        """The nodes that pass, or that would if pods with the same constraints were in other domains."""
        constraints = self._hard_constraints(cycle.pod)
        is_open = np.ones(len(cycle.cluster.table.nodes), dtype=bool)
        is_about_itself = bool(cycle.pod.pod.spec.topology_spread) and all(
            each.is_self_matching for each in constraints
        )
        for constraint in constraints:
            reasons = _reasons_by_domain(constraint, self._groups.found(constraint.query))
            found = reasons[constraint.counted.domains.ids]
            is_open &= found != _SpreadReason.NO_KEY.bit if is_about_itself else found == 0
        return is_open

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        if bits & _SpreadReason.NO_KEY.bit:
            return Obstacle.of(self.name, Code.UNRESOLVABLE, _SpreadReason.NO_KEY)
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, _SpreadReason.TOO_MANY)

    def spread(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints that say `DoNotSchedule`. Raises ValueError for one that cannot be read."""
        return self._constraints.of(pod, _HARD)

    def _hard_constraints(self, incoming: PlacementClass) -> tuple[SpreadConstraint, ...]:
        known = self._hard.get(incoming)
        if known is None:
            known = self._hard[incoming] = self._constraints.of(incoming.pod, _HARD)
        return known


def _reasons_by_domain(constraint: SpreadConstraint, found: FoundPods) -> NDArray[np.uint32]:
    """The reason against the nodes of each domain, and last against those in none.

    A domain without eligible nodes counts no pods, and does not make the emptiest one.
    """
    counted = constraint.counted
    sums = counted.sums(found)
    least = counted.least(sums) if counted.num and counted.num >= constraint.min_domains else 0
    is_too_many = sums > constraint.max_skew + least - constraint.is_self_matching
    reasons = np.multiply(is_too_many, _SpreadReason.TOO_MANY.bit, dtype=np.uint32)
    reasons[-1] = _SpreadReason.NO_KEY.bit
    return reasons


class _SpreadInteractions:
    """Each pod that counts fills its own domain, and lets more into the others."""

    def __init__(self, profile: SchedulerProfile) -> None:
        self._defaults = _hard(profile.args.of(PodTopologySpreadArgs).default_constraints)

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether the emptiest domain of a constraint may come to hold more."""
        return bool(_hard(pod.spec.topology_spread)) or self._is_defaulted(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether no constraint closes nodes to it."""
        return not self.can_be_helped(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those with constraints, which are not local themselves."""
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether one of them counts for a constraint of the other."""
        return self._counts(first, second) or self._counts(second, first)

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None one node alone: pods on one host bear on the others, too."""
        return ()

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Never: a pod that is being deleted counts no more."""
        return False

    def _counts(self, pod: Pod, other: Pod) -> bool:
        """Whether `other` may count for a constraint of `pod`; whom default constraints count is not in the pod."""
        if pod.namespace != other.namespace:
            return False
        if self._is_defaulted(pod):
            return True
        return any(each.selector.matches(other.labels) for each in _hard(pod.spec.topology_spread))

    def _is_defaulted(self, pod: Pod) -> bool:
        return bool(self._defaults) and not pod.spec.topology_spread


def _hard(constraints: Iterable[TopologySpreadConstraint]) -> tuple[TopologySpreadConstraint, ...]:
    return tuple([constraint for constraint in constraints if constraint.when_unsatisfiable == _HARD])


def _explain_spread(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The domain of the node that would hold too many pods, and how many the emptiest one holds."""
    cluster = refused.cycle.cluster
    constraints = SpreadConstraints(cluster, refused.scheduler.args_of(PodTopologySpreadArgs))
    for constraint in constraints.of(refused.pod, "DoNotSchedule"):
        if constraint.topology_key not in refused.node.labels:
            yield f"has no label {constraint.topology_key}, the topologyKey of the spread constraint"
        else:
            yield from _crowded(refused, constraint)


def _crowded(refused: RefusedNode, constraint: SpreadConstraint) -> Iterator[str]:
    counts = constraint.counted
    sums = counts.sums(refused.cycle.cluster.follow(PodCounts).found(constraint.query))
    is_enough = bool(counts.num) and counts.num >= constraint.min_domains
    least = counts.least(sums) if is_enough else 0
    held = int(sums[counts.domains.ids[refused.node_index]])
    if held + constraint.is_self_matching - least <= constraint.max_skew:
        return
    domain = f"{constraint.topology_key}={refused.node.labels[constraint.topology_key]}"
    other = f"the emptiest domain {least}" if is_enough else f"there are fewer than {constraint.min_domains} domains"
    yield f"{counted(held, 'matching pod')} in {domain}, {other} (maxSkew: {constraint.max_skew})"


ROW = SchedulingPlugin(
    plugin=PodTopologySpread,
    is_optional=True,
    score=PodTopologySpreadScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    compares=Compares.SPREAD,
    by_default=ByDefault(weight=2),
    prepared_for=frozenset({"filter", "score"}),
    args=ARGS,
    interactions=_SpreadInteractions,
    explain=_explain_spread,
    reads_kinds=frozenset({"Service"}),
    about=About(
        check=(
            "A domain must not have over maxSkew pods more than the emptiest domain (topologySpreadConstraints with "
            "DoNotSchedule)."
        ),
        preference=(
            "Domains with fewer of the pods, for constraints with ScheduleAnyway; without any, nodes and "
            "zones with fewer pods of the same workload."
        ),
        reasons=tuple(reason.reason for reason in _SpreadReason),
    ),
)
