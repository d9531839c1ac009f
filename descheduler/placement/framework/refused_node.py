"""A node that does not take a pod, as those see it who explain why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class _PlacedPods:
    """A follower that keeps the pods of each node, those that were placed in a what-if included."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._pods: list[list[Pod]] = [[] for _ in cluster.table.nodes]

    def on(self, node: int) -> tuple[Pod, ...]:
        """The pods that take room on a node, in namespace and name order."""
        return tuple(sorted(self._pods[node], key=lambda pod: (pod.namespace, pod.name)))

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes `pod` in."""
        if node >= 0:
            self._pods[node].append(pod)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The inverse of `pod_added`. Equal replicas may be one object, of which it does not matter which one goes."""
        if node >= 0:
            pods = self._pods[node]
            del pods[next(index for index, known in enumerate(pods) if known is pod)]

    def fingerprint(self) -> object:
        return [[pod.key for pod in self.on(node)] for node in range(len(self._pods))]


ArgsType = TypeVar("ArgsType")


class Configured(Protocol):
    """A scheduler, as far as its plugins explain what they have against a node."""

    def runs(self, plugin: str, point: str = "") -> bool:
        """Whether it runs the scheduling plugin of this name, at this field of a profile or at any."""

    def args_of(self, in_use: type[ArgsType]) -> ArgsType:
        """The arguments of one of its scheduling plugins, by their type; those by default where it runs none such."""


class RefusedNode(msgspec.Struct, frozen=True):
    """One node that does not take the pod of `cycle`, under the plugins of `scheduler`."""

    cycle: Cycle
    scheduler: Configured
    node_index: int

    @property
    def node(self) -> Node:
        """The node itself."""
        return self.cycle.cluster.table.nodes[self.node_index]

    @property
    def pod(self) -> Pod:
        """The pod that the node does not take."""
        return self.cycle.pod.pod

    @property
    def snapshot(self) -> Snapshot:
        """The cluster that all this is about."""
        return self.cycle.cluster.snapshot

    def pods_here(self) -> tuple[Pod, ...]:
        """The pods that take room on the node."""
        return self.cycle.cluster.follow(_PlacedPods).on(self.node_index)

    def pods_everywhere(self) -> Iterator[tuple[Pod, Node]]:
        """The pods on all nodes, with their nodes."""
        placed = self.cycle.cluster.follow(_PlacedPods)
        for index, node in enumerate(self.cycle.cluster.table.nodes):
            for pod in placed.on(index):
                yield pod, node

    def pods_around(self, topology_key: str) -> Iterator[tuple[Pod, Node]]:
        """The pods on all nodes that share the topology domain, with their nodes; none without the label.

        Those on the node itself come first: who stands next to a pod explains more than who stands a zone away.
        """
        domain = self.node.labels.get(topology_key)
        if domain is None:
            return
        for pod in self.pods_here():
            yield pod, self.node
        for pod, node in self.pods_everywhere():
            if node is not self.node and node.labels.get(topology_key) == domain:
                yield pod, node


_MOST_NAMED = 3


Explain = Callable[[RefusedNode, Obstacle], Iterator[str]]
"""Sentences about an obstacle, lower case and without a stop; none where nothing can be added to the reason."""


def listed(names: Sequence[str]) -> str:
    """The first few of `names`, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
