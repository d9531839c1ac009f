"""What the agent of Koordinator reports of nodes: measured usage (NodeMetric), and CPUs (NodeResourceTopology)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.model.requests import ResourceList

NODE_TOPOLOGY_KIND = "NodeResourceTopology.topology.node.k8s.io"
"""Its key in the table of kinds."""


class Cpu(msgspec.Struct, frozen=True, gc=False):
    """A logical CPU. Cores are numbered anew in each socket, NUMA nodes across the machine."""

    id: int
    core: int
    socket: int
    numa_node: int


class NodeTopology(msgspec.Struct, frozen=True, eq=False):
    """The NodeResourceTopology of the node `name`.

    `reserved_cpus` are those that koordlet chose for the reservation of the node; `kubelet_reserved_cpus` those of the
    kubelet and `system_cpus` those that pods of QoS class SYSTEM have for themselves. `kubelet_pods` maps the uid of a
    pod to the CPUs that the kubelet has pinned it to. `numa_policy` is empty, `BestEffort`, `Restricted` or
    `SingleNUMANode`. `needs_full_cores` says that the kubelet gives out whole cores only.
    """

    name: str
    cpus: tuple[Cpu, ...] = ()
    reserved_cpus: frozenset[int] = frozenset()
    kubelet_reserved_cpus: frozenset[int] = frozenset()
    system_cpus: frozenset[int] = frozenset()
    kubelet_pods: Mapping[str, frozenset[int]] = {}
    numa_policy: str = ""
    needs_full_cores: bool = False

    @property
    def closed_cpus(self) -> frozenset[int]:
        """The CPUs that koord-scheduler pins no pod to (koordinator 1.8 `NewTopologyOptions`)."""
        named = self.reserved_cpus | self.kubelet_reserved_cpus | self.system_cpus
        return named.union(*self.kubelet_pods.values())


NODE_METRIC_KIND = "NodeMetric.slo.koordinator.sh"
"""Its key in the table of kinds."""

RAW_ALLOCATABLE_ANNOTATION = "node.koordinator.sh/raw-allocatable"
"""What a node can give in truth, where its allocatable resources are amplified; a resource list in JSON."""


class PodMetric(msgspec.Struct, frozen=True, gc=False):
    """The usage of one pod: `amounts` in nano units, of `resources` in the same order.

    There are as many as pods, and nearly all have the same resources, so that these are shared.
    """

    namespace: str
    name: str
    resources: tuple[str, ...]
    amounts: tuple[int, ...]
    is_prod: bool = False
    """Whether the agent takes the pod for one of class koord-prod."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def usage(self) -> ResourceList:
        """Resource name → nano units."""
        return dict(zip(self.resources, self.amounts, strict=True))


class NodeMetric(msgspec.Struct, frozen=True):
    """A NodeMetric of Koordinator; its name is that of the node.

    `updated_at` is None before the first report. `system_usage` is what nothing but pods leaves out, in nano units;
    None while the agent has measured no node, in which case nothing here counts. `node_usage` is that of the node as a
    whole, averaged over minutes. `aggregated_usage` are its percentiles as they are written, None without any: few
    schedulers read them. A report follows the one before after `report_seconds`.
    """

    name: str
    updated_at: datetime | None
    system_usage: ResourceList | None
    pods: tuple[PodMetric, ...]
    node_usage: ResourceList = {}
    aggregated_usage: bytes | None = None
    report_seconds: int = 60
