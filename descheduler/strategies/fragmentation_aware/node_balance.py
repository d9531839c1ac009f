"""How evenly the pods of a node request its resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

import msgspec

from descheduler.model.node import Node
from descheduler.model.pod import Pod

__all__ = ["NodeBalance"]


class NodeBalance(msgspec.Struct, frozen=True):
    """What is requested of a node, in nano units by resource. Resources that the node does not have are left out."""

    node: Node
    requested: Mapping[str, int]

    @classmethod
    def of(cls, node: Node, pods: Sequence[Pod], resources: Iterable[str]) -> NodeBalance:
        """That of `node` with `pods`, over `resources`."""
        names = [name for name in resources if node.allocatable.get(name, 0)]
        return cls(node, {name: sum(pod.spec.requests.get(name, 0) for pod in pods) for name in names})

    @property
    def imbalance(self) -> float:
        """The population standard deviation of the requested shares of allocatable; 0 without any resource.

        Mirrors koordinator-sh/koordinator, main of July 2026,
        `pkg/descheduler/framework/plugins/fragmentationaware/scorer.go`.
        """
        shares = [nano / self.node.allocatable[name] for name, nano in self.requested.items()]
        if not shares:
            return 0.0
        mean = sum(shares) / len(shares)
        return sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))

    def without(self, pod: Pod) -> NodeBalance:
        """The balance when `pod`, which is one of its pods, has left."""
        requests = pod.spec.requests
        return NodeBalance(self.node, {name: nano - requests.get(name, 0) for name, nano in self.requested.items()})

    def gain(self, pod: Pod) -> float:
        """By how much the imbalance falls without `pod`; below 0 when it rises."""
        return self.imbalance - self.without(pod).imbalance
