"""What Koordinator's agent reports of a node's CPUs: where they are, and to which of them no pod may be pinned."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

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
