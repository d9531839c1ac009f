"""The CPUs of all nodes that pods are pinned to: of pods of the snapshot, and of those that were placed since."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np

from descheduler.cluster.decoding.koordinator.node_topology import decode_cpu_spec, decode_pinned_cpus
from descheduler.model.annotations import CPU_SPEC_ANNOTATION, RESOURCE_STATUS_ANNOTATION
from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND, Cpu, NodeTopology
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.numbers import cpu_list_text
from descheduler.placement.framework.matched_reservations import Allocation
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster

FULL_CORES, SPREAD = "FullPCPUs", "SpreadByPCPUs"
"""Policies by which CPUs are chosen: whole physical cores, or one CPU of each core."""


class CpuMap(msgspec.Struct, frozen=True, eq=False):
    """CPU → its core, NUMA node and socket; how many CPUs there are in each of these on average, cut.

    Koordinator 1.8 `cpu_topology.go`. Machines with different numbers of CPUs in their cores are rare, and the averages
    decide there as well.
    """

    core: Mapping[int, int]
    numa_node: Mapping[int, int]
    socket: Mapping[int, int]
    per_core: int
    per_numa_node: int
    per_socket: int

    @property
    def cpus(self) -> frozenset[int]:
        return frozenset(self.core)

    def by_core(self, cpus: Iterable[int]) -> dict[int, list[int]]:
        """Core → those of `cpus` that it has, ascending."""
        found: dict[int, list[int]] = {}
        for cpu in sorted(cpus):
            found.setdefault(self.core[cpu], []).append(cpu)
        return found

    def usable(self, cpus: frozenset[int], required: str) -> frozenset[int]:
        """The part of `cpus` that can be taken under a required policy, "" for none."""
        if required == FULL_CORES:
            cores = self.by_core(cpus).values()
            return frozenset(cpu for core in cores if len(core) == self.per_core for cpu in core)
        if required == SPREAD:
            return frozenset(core[0] for core in self.by_core(cpus).values())
        return cpus


def cpu_map(cpus: Iterable[Cpu]) -> CpuMap | None:
    """The map of the CPUs that a node reports; None for none."""
    cpus = tuple(cpus)
    if not cpus:
        return None
    number = len({cpu.id for cpu in cpus})
    cores = {(cpu.socket, cpu.numa_node, cpu.core) for cpu in cpus}
    return CpuMap(
        core={cpu.id: cpu.socket << 16 | cpu.core for cpu in cpus},
        numa_node={cpu.id: cpu.numa_node for cpu in cpus},
        socket={cpu.id: cpu.socket for cpu in cpus},
        per_core=number // len(cores),
        per_numa_node=number // len({(cpu.socket, cpu.numa_node) for cpu in cpus}),
        per_socket=number // len({cpu.socket for cpu in cpus}),
    )


AMPLIFICATION_ANNOTATION = "node.koordinator.sh/resource-amplification-ratio"
_NUMA_POLICY_LABEL = "node.koordinator.sh/numa-topology-policy"
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


def _node_cpus(node: Node, topology: NodeTopology | None) -> NodeCpus:
    """The CPUs of a node, whose labels come before what its kubelet does."""
    known = topology or NodeTopology(node.name)
    strategy = node.labels.get(_STRATEGY_LABEL, "")
    return NodeCpus(
        map=cpu_map(known.cpus),
        closed=known.closed_cpus,
        required=_required(node.labels.get(_BIND_POLICY_LABEL, ""), known),
        numa_policy=node.labels.get(_NUMA_POLICY_LABEL, "") or known.numa_policy,
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


class HeldCpus(NamedTuple):
    """CPUs of a node that one pod is pinned to, and its exclusive policy."""

    node: int
    cpus: frozenset[int]
    exclusive: str


class CpuCache(CountingFollower):
    """A follower that knows which CPUs of each node are free. `versions` changes, by node, when these do.

    `is_known` says whether the topologies of nodes were read at all; without them all of it is unknown.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        topologies = cluster.snapshot.node_topologies
        self.is_known = bool(topologies) or NODE_TOPOLOGY_KIND in cluster.snapshot.kinds
        self.nodes: list[NodeCpus] = [_node_cpus(node, topologies.get(node.name)) for node in cluster.table.nodes]
        self.versions = np.zeros(len(self.nodes), dtype=np.int64)
        self._held: dict[int, Counter[tuple[int, str]]] = {}
        self._pods: Counter[str] = Counter()
        self._is_idle = not any(node.map for node in self.nodes)

    def free(self, node: int) -> frozenset[int]:
        """CPUs of a node that a pod can be pinned to."""
        cpus = self.nodes[node]
        if cpus.map is None:
            return frozenset()
        return cpus.map.cpus - cpus.closed - {cpu for cpu, _ in self._held.get(node, ())}

    def held(self, node: int) -> tuple[tuple[int, str], ...]:
        """CPUs of a node that pods are pinned to, each with the exclusive policy of its pod."""
        return tuple(self._held.get(node, ()))

    def counts(self, uid: str) -> bool:
        """Whether the CPUs of this pod are among those that are held."""
        return uid in self._pods

    def change(self, held: HeldCpus, sign: int) -> None:
        """Takes CPUs (`sign` 1), or gives them back (-1)."""
        found = self._held.setdefault(held.node, Counter())
        for cpu in held.cpus:
            found[cpu, held.exclusive] += sign
            if not found[cpu, held.exclusive]:
                del found[cpu, held.exclusive]
        self.versions[held.node] += 1

    def fingerprint(self) -> object:
        return sorted((node, sorted(held.items())) for node, held in self._held.items() if held)

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        if self._is_idle or node == NO_NODE or not pod.annotations or not pod.node_name:
            return
        text = pod.annotations.get(RESOURCE_STATUS_ANNOTATION)
        cpus = decode_pinned_cpus(text) if text else frozenset[int]()
        if not cpus or self.nodes[node].map is None:
            return
        self._pods[pod.uid] += sign
        if not self._pods[pod.uid]:
            del self._pods[pod.uid]
        self.change(HeldCpus(node, cpus, _exclusive(pod)), sign)


def _exclusive(pod: Pod) -> str:
    try:
        return decode_cpu_spec(pod.annotations.get(CPU_SPEC_ANNOTATION, "")).exclusive
    except ValueError:
        return ""


NAME = "NodeNUMAResource"


@runtime_checkable
class _Pinning(Protocol):
    """What the plugin finds out about a pod before Reserve, and leaves in the scratch of the cycle under its name."""

    def number_on(self, node: int) -> int:
        """How many CPUs of a node the pod gets for its own; 0 for a pod that shares them."""

    def chosen(self, node: int) -> HeldCpus | None:
        """Those CPUs; None where they are too few."""


class CpuLedger:
    """Takes CPUs out of the cache, and gives them back."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self.cache = cluster.follow(CpuCache)

    def reserve(self, cycle: Cycle, node: int) -> HeldCpus | None:
        """Takes the CPUs that the scheduler would choose on `node`.

        Unless a policy is required, Filter does not look whether there are enough; Reserve then fails, time and again.
        `cycle.notes` says so.
        """
        pinning = cycle.scratch.get(NAME)
        if not isinstance(pinning, _Pinning) or not pinning.number_on(node):
            return None
        chosen = pinning.chosen(node)
        if chosen is None:
            name, number = cycle.cluster.table.names[node], pinning.number_on(node)
            cycle.notes.append(f"{NAME} must find {number} free CPUs on node {name} to pin the pod to")
            return None
        self.restore(chosen)
        return chosen

    def restore(self, taken: HeldCpus) -> None:
        self.cache.change(taken, 1)

    def release(self, taken: HeldCpus) -> None:
        self.cache.change(taken, -1)

    def allocations(self, taken: HeldCpus) -> tuple[Allocation, ...]:
        """The CPUs as one list."""
        return (Allocation(NAME, "cpus", cpu_list_text(taken.cpus)),)

    def fingerprint(self) -> object:
        return self.cache.fingerprint()
