"""What runs as `NodeAffinity`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.node_affinity.args import ARGS
from descheduler.placement.plugins.node_affinity.explain import explain_node_affinity
from descheduler.placement.plugins.node_affinity.filter import NodeAffinity, NodeAffinityReason
from descheduler.placement.plugins.node_affinity.score import NodeAffinityScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=NodeAffinity,
    score=NodeAffinityScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    by_default=ByDefault(weight=2),
    args=ARGS,
    interactions=own_node,
    explain=explain_node_affinity,
    about=About(
        check="The node must have the labels of nodeSelector and match a term of the required node affinity.",
        preference="Nodes that meet more of the preferred node affinity, by weight.",
        reasons=tuple(reason.reason for reason in NodeAffinityReason),
    ),
)
