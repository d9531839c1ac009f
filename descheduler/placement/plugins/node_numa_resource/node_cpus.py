"""What a node says of its CPUs, which no move changes."""

from __future__ import annotations

import json

import msgspec

from descheduler.model.koordinator.node_topology import NodeTopology
from descheduler.model.node import Node
from descheduler.placement.plugins.node_numa_resource.cpu_map import FULL_CORES, SPREAD, CpuMap, cpu_map

__all__ = ["AMPLIFICATION_ANNOTATION", "NUMA_POLICY_LABEL", "NodeCpus", "node_cpus"]

AMPLIFICATION_ANNOTATION = "node.koordinator.sh/resource-amplification-ratio"
NUMA_POLICY_LABEL = "node.koordinator.sh/numa-topology-policy"
_BIND_POLICY_LABEL = "node.koordinator.sh/cpu-bind-policy"
_STRATEGY_LABEL = "node.koordinator.sh/numa-allocate-strategy"
_INVALID = -1.0


class NodeCpus(msgspec.Struct, frozen=True, eq=False):
    """`map` is None where no topology is reported; no pod is pinned to the `closed` CPUs.

    `required` is the policy by which all pods of the node get CPUs of their own, "" where only those do that ask for
    it. `numa_policy` is "" where NUMA nodes do not matter. `fills` is None where the scheduler's arguments decide.
    `amplified` is by how much the CPUs of the node are overstated, 1 for not at all.
    """

    map: CpuMap | None
    closed: frozenset[int]
    required: str
    numa_policy: str
    fills: bool | None
    amplified: float

    @property
    def is_plain(self) -> bool:
        """Whether it only matters to pods that ask for CPUs of their own."""
        return not self.required and not self.numa_policy and self.amplified == 1

    @property
    def has_invalid_ratio(self) -> bool:
        """Whether the annotation that states `amplified` cannot be read."""
        return self.amplified == _INVALID


def node_cpus(node: Node, topology: NodeTopology | None) -> NodeCpus:
    """The CPUs of a node, whose labels come before what its kubelet does."""
    known = topology or NodeTopology(node.name)
    strategy = node.labels.get(_STRATEGY_LABEL, "")
    return NodeCpus(
        map=cpu_map(known.cpus),
        closed=known.closed_cpus,
        required=_required(node.labels.get(_BIND_POLICY_LABEL, ""), known),
        numa_policy=node.labels.get(NUMA_POLICY_LABEL, "") or known.numa_policy,
        fills=strategy == "MostAllocated" if strategy else None,
        amplified=_amplified(node.annotations.get(AMPLIFICATION_ANNOTATION, "")),
    )


def _required(label: str, topology: NodeTopology) -> str:
    if label == "FullPCPUsOnly" or topology.needs_full_cores:
        return FULL_CORES
    return SPREAD if label == "SpreadByPCPUs" else ""


def _amplified(text: str) -> float:
    if not text:
        return 1
    try:
        ratio = (json.loads(text) or {}).get("cpu") or 1
        return max(1.0, float(ratio)) if isinstance(ratio, int | float) else _INVALID
    except (ValueError, AttributeError, RecursionError):
        return _INVALID
