"""What runs as `InterPodAffinity`."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.inter_pod_affinity.args import ARGS
from descheduler.placement.plugins.inter_pod_affinity.explain import explain_pod_affinity
from descheduler.placement.plugins.inter_pod_affinity.filter import (
    AffinityFault,
    AffinityInteractions,
    InterPodAffinity,
)
from descheduler.placement.plugins.inter_pod_affinity.score import InterPodAffinityScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=InterPodAffinity,
    is_optional=True,
    score=InterPodAffinityScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    by_default=ByDefault(weight=2),
    prepared_for=frozenset({"filter", "score"}),
    args=ARGS,
    interactions=lambda _: AffinityInteractions(),
    explain=explain_pod_affinity,
    reads_kinds=frozenset({"Namespace"}),
    about=About(
        check="Required pod affinity and anti-affinity, of the pod and, for anti-affinity, of the pods that are there.",
        preference="Nodes that meet more preferred terms of pod affinity and anti-affinity, by weight.",
        reasons=tuple(fault.reason for fault in AffinityFault),
    ),
)
