"""What runs as `TaintToleration`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.taint_toleration.explain import explain_taints
from descheduler.placement.plugins.taint_toleration.filter import TaintReason, TaintToleration
from descheduler.placement.plugins.taint_toleration.score import TaintTolerationScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=TaintToleration,
    score=TaintTolerationScore,
    points=frozenset({"filter", "pre_score", "score"}),
    by_default=ByDefault(weight=3),
    prepared_for=frozenset({"score"}),
    interactions=own_node,
    explain=explain_taints,
    about=About(
        check="The pod must tolerate every NoSchedule and NoExecute taint of the node.",
        preference="Nodes with fewer PreferNoSchedule taints that the pod does not tolerate.",
        reasons=tuple(reason.reason for reason in TaintReason),
    ),
)
