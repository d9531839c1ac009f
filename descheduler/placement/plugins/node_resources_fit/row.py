"""What runs as `NodeResourcesFit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, PODS
from descheduler.model.text.amounts import amount_text, cpu_texts
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.obstacle import Obstacle, Shortage
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.framework.scheduling_plugin import About, Compares, Preference, SchedulingPlugin, by_requests
from descheduler.placement.plugins.node_resources_fit.args import ARGS, NodeResourcesFitArgs
from descheduler.placement.plugins.node_resources_fit.filter import NodeResourcesFit
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitScore
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["ROW"]

_ONE_CPU = 1000


def _preference(profile: SchedulerProfile) -> Preference:
    """Nodes with more room by LeastAllocated, full ones by MostAllocated."""
    args = profile.args.of(NodeResourcesFitArgs)
    weights = {each.name: each.weight for each in args.resources} if args.strategy == "MostAllocated" else {}
    return Preference(prefers_empty_nodes=args.strategy == "LeastAllocated", packing_weights=weights)


def _explain_resources(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Such as `200m CPU short: requests 500m, 300m of 4 free`, and which pods that are being deleted hold more."""
    ending = [pod for pod in refused.pods_here() if pod.is_terminating]
    for fact in obstacle.facts:
        if isinstance(fact, Shortage):
            yield _sentence(fact) + _held_by(ending, refused.cycle.cluster, fact)


def _held_by(ending: Sequence[Pod], cluster: ShadowCluster, fact: Shortage) -> str:
    """What terminating pods hold of what is short; it is free once they are gone."""
    held = {pod.key: _held(pod, cluster, fact.resource) for pod in ending}
    names = [name for name, amount in held.items() if amount]
    if not names or fact.requested > fact.allocatable:
        return ""
    who = f"terminating pod {names[0]} holds" if len(names) == 1 else f"terminating pods {listed(names)} hold"
    return f"; {who} {amount_text(fact.resource, sum(held.values()))} until gone"


def _held(pod: Pod, cluster: ShadowCluster, resource: str) -> int:
    if resource == PODS:
        return 1
    names = cluster.table.resources
    return next((amount for row, amount in cluster.placement_class(pod).demand.amounts if names[row] == resource), 0)


def _sentence(fact: Shortage) -> str:
    name = fact.resource
    if name == PODS:
        return f"maximum pods reached: {fact.allocatable - fact.free} of {fact.allocatable} pods"
    shown = "CPU" if name == CPU else name
    missing = fact.requested - fact.free
    amounts = missing, fact.requested, abs(fact.free), fact.allocatable
    in_cpus = name == CPU and fact.requested >= _ONE_CPU
    more, asked, free, whole = cpu_texts(amounts) if in_cpus else [amount_text(name, amount) for amount in amounts]
    if fact.requested > fact.allocatable:
        return f"node too small: requests {asked} {shown}, {whole} is allocatable"
    if fact.free < 0:
        return f"{more} {shown} short: requests {asked}, node is over-committed by {free}"
    return f"{more} {shown} short: requests {asked}, {free} of {whole} free"


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
    explain=_explain_resources,
    about=About(
        check="The requests of the pod must be free on the node: allocatable less the requests of the pods there.",
        preference="By default nodes with lower requests of cpu and memory.",
        reasons=("Insufficient <resource>", "Too many pods"),
    ),
)
