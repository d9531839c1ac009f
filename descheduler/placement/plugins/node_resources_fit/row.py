"""What runs as `NodeResourcesFit`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, by_requests
from descheduler.placement.plugins.node_resources_fit.args import ARGS
from descheduler.placement.plugins.node_resources_fit.explain import explain_resources
from descheduler.placement.plugins.node_resources_fit.filter import NodeResourcesFit
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=NodeResourcesFit,
    score=NodeResourcesFitScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "placement_score"}),
    by_default=ByDefault(weight=1),
    prepared_for=frozenset({"filter"}),
    args=ARGS,
    interactions=by_requests,
    explain=explain_resources,
    about=About(
        check="The requests of the pod must be free on the node: allocatable less the requests of the pods there.",
        preference="By default nodes with lower requests of cpu and memory.",
        reasons=("Insufficient <resource>", "Too many pods"),
    ),
)
