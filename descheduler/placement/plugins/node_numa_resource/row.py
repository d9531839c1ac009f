"""What runs as `NodeNUMAResource`."""

from __future__ import annotations

from descheduler.model.annotations import CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION
from descheduler.model.koordinator.node_topology import NODE_TOPOLOGY_KIND
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.plugins.node_numa_resource.args import ARGS
from descheduler.placement.plugins.node_numa_resource.explain import explain_cpus
from descheduler.placement.plugins.node_numa_resource.node_cpus import AMPLIFICATION_ANNOTATION
from descheduler.placement.plugins.node_numa_resource.plugin import NodeNUMAResource
from descheduler.placement.plugins.node_numa_resource.reasons import CpuReason
from descheduler.placement.plugins.node_numa_resource.score import NodeNUMAResourceScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=NodeNUMAResource,
    score=NodeNUMAResourceScore,
    points=frozenset({"pre_filter", "filter", "score", "reserve", "pre_bind"}),
    args=ARGS,
    compares=Compares.CPUS,
    explain=explain_cpus,
    reads_annotations=(CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION, AMPLIFICATION_ANNOTATION),
    reads_kinds=frozenset({NODE_TOPOLOGY_KIND}),
    about=About(
        check="CPUs of their own for pods of QoS class LSE and LSR, and on nodes with a CPU bind policy: enough must be"
        " free, in whole cores where that is required. NUMA topology policies are not modelled; they are a condition.",
        preference="By default nodes with lower requests of cpu and memory, for all pods. Scores of nodes with a NUMA"
        " topology policy are not modelled: any of them may be the best.",
        reasons=tuple(reason.reason for reason in CpuReason),
    ),
)
