"""What runs as `NodeResourcesFit`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduling_plugin import About, Compares, Preference, SchedulingPlugin, by_requests
from descheduler.placement.plugins.node_resources_fit.args import ARGS, NodeResourcesFitArgs
from descheduler.placement.plugins.node_resources_fit.explain import explain_resources
from descheduler.placement.plugins.node_resources_fit.filter import NodeResourcesFit
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitScore

__all__ = ["ROW"]


def _preference(profile: SchedulerProfile) -> Preference:
    """Nodes with more room by LeastAllocated, full ones by MostAllocated."""
    args = profile.args.of(NodeResourcesFitArgs)
    weights = {each.name: each.weight for each in args.resources} if args.strategy == "MostAllocated" else {}
    return Preference(prefers_empty_nodes=args.strategy == "LeastAllocated", packing_weights=weights)


ROW = SchedulingPlugin(
    plugin=NodeResourcesFit,
    score=NodeResourcesFitScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "placement_score"}),
    by_default=ByDefault(weight=1),
    prepared_for=frozenset({"filter"}),
    args=ARGS,
    interactions=by_requests,
    compares=Compares.REQUESTS,
    prefers=_preference,
    explain=explain_resources,
    about=About(
        check="The requests of the pod must be free on the node: allocatable less the requests of the pods there.",
        preference="By default nodes with lower requests of cpu and memory.",
        reasons=("Insufficient <resource>", "Too many pods"),
    ),
)
