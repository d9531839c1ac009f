"""What runs as `PodTopologySpread`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.pod_topology_spread.args import ARGS
from descheduler.placement.plugins.pod_topology_spread.explain import explain_spread
from descheduler.placement.plugins.pod_topology_spread.filter import PodTopologySpread, SpreadInteractions, SpreadReason
from descheduler.placement.plugins.pod_topology_spread.score import PodTopologySpreadScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=PodTopologySpread,
    is_optional=True,
    score=PodTopologySpreadScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    by_default=ByDefault(weight=2),
    prepared_for=frozenset({"filter", "score"}),
    args=ARGS,
    interactions=SpreadInteractions,
    explain=explain_spread,
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
