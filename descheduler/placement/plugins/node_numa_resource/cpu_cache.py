"""The CPUs of all nodes that pods are pinned to: of pods of the snapshot, and of those that were placed since."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from descheduler.cluster.decoding.koordinator.cpu_annotations import decode_cpu_spec, decode_pinned_cpus
from descheduler.model.annotations import CPU_SPEC_ANNOTATION, RESOURCE_STATUS_ANNOTATION
from descheduler.model.koordinator.node_topology import NODE_TOPOLOGY_KIND
from descheduler.model.pod import Pod
from descheduler.placement.plugins.node_numa_resource.node_cpus import NodeCpus, node_cpus
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["CpuCache", "HeldCpus"]


class HeldCpus(NamedTuple):
    """CPUs of a node that one pod is pinned to, and its exclusive policy."""

    node: int
    cpus: frozenset[int]
    exclusive: str


class CpuCache:
    """A follower that knows which CPUs of each node are free. `versions` changes, by node, when these do.

    `is_known` says whether the topologies of nodes were read at all; without them all of it is unknown.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        topologies = cluster.snapshot.node_topologies
        self.is_known = bool(topologies) or NODE_TOPOLOGY_KIND in cluster.snapshot.kinds
        self.nodes: list[NodeCpus] = [node_cpus(node, topologies.get(node.name)) for node in cluster.table.nodes]
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

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Its CPUs are its own until it is gone."""
        del is_terminating
        self._tell(pod, node, 1)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Its CPUs are free again."""
        del is_terminating
        self._tell(pod, node, -1)

    def fingerprint(self) -> object:
        """What is held on each node."""
        return sorted((node, sorted(held.items())) for node, held in self._held.items() if held)

    def _tell(self, pod: Pod, node: int, sign: int) -> None:
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
