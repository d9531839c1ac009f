"""What runs as `PodTopologySpread`."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.plugins.pod_topology_spread.args import ARGS, PodTopologySpreadArgs
from descheduler.placement.plugins.pod_topology_spread.constraints import SpreadConstraints
from descheduler.placement.plugins.pod_topology_spread.filter import PodTopologySpread, SpreadInteractions, SpreadReason
from descheduler.placement.plugins.pod_topology_spread.score import PodTopologySpreadScore
from descheduler.placement.shadow.pod_counts import PodCounts

__all__ = ["ROW"]


def _explain_spread(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The domain of the node that would hold too many pods, and how many the emptiest one holds."""
    del obstacle
    cluster = refused.cycle.cluster
    constraints = SpreadConstraints(cluster, refused.scheduler.args_of(PodTopologySpreadArgs))
    for constraint in constraints.of(refused.pod, "DoNotSchedule"):
        if constraint.topology_key not in refused.node.labels:
            yield f"has no label {constraint.topology_key}, the topologyKey of the spread constraint"
        else:
            yield from _crowded(refused, constraint)


def _crowded(refused: RefusedNode, constraint: SpreadConstraint) -> Iterator[str]:
    counted = constraint.counted
    sums = counted.sums(refused.cycle.cluster.follow(PodCounts).found(constraint.query))
    is_enough = bool(counted.num) and counted.num >= constraint.min_domains
    least = counted.least(sums) if is_enough else 0
    held = int(sums[counted.domains.ids[refused.node_index]])
    if held + constraint.is_self_matching - least <= constraint.max_skew:
        return
    domain = f"{constraint.topology_key}={refused.node.labels[constraint.topology_key]}"
    other = f"the emptiest domain {least}" if is_enough else f"there are fewer than {constraint.min_domains} domains"
    yield f"{held} matching pods in {domain}, {other} (maxSkew: {constraint.max_skew})"


ROW = SchedulingPlugin(
    plugin=PodTopologySpread,
    is_optional=True,
    score=PodTopologySpreadScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    compares=Compares.SPREAD,
    by_default=ByDefault(weight=2),
    prepared_for=frozenset({"filter", "score"}),
    args=ARGS,
    interactions=SpreadInteractions,
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
        reasons=tuple(reason.reason for reason in SpreadReason),
    ),
)
