"""Which nodes of a pool pods leave, and which can take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import msgspec

from descheduler.strategies.low_node_load.node_load import MeasuredNode

__all__ = ["LoadClasses", "NodeClass", "classify"]


class NodeClass(Enum):
    """What a node is; the value is the clause about it."""

    HIGH = "overutilized"
    PROD_HIGH = "overutilized by prod pods"
    BOTH_LOW = "underutilized"
    LOW = "underutilized, but not by prod pods"
    PROD_LOW = "not overutilized, and can take prod pods"
    OTHER = "neither overutilized nor underutilized"


class LoadClasses(msgspec.Struct, frozen=True):
    """The loads of a pool by class, in the given order."""

    loads: Sequence[MeasuredNode]
    classes: Sequence[NodeClass]

    def of(self, *classes: NodeClass) -> list[MeasuredNode]:
        """The nodes of these classes: class by class, as they are given here."""
        return [load for wanted in classes for load in self._of(wanted)]

    @property
    def num_low(self) -> int:
        """How many nodes count as underutilized, those that can take prod pods alone among them."""
        return sum(each in (NodeClass.LOW, NodeClass.PROD_LOW, NodeClass.BOTH_LOW) for each in self.classes)

    def _of(self, wanted: NodeClass) -> Iterator[MeasuredNode]:
        return (load for load, found in zip(self.loads, self.classes, strict=True) if found is wanted)


def classify(loads: Iterable[MeasuredNode]) -> LoadClasses:
    """The classes of nodes; a cordoned node is never underutilized.

    Without thresholds for prod pods every node that is not overutilized can take prod pods, as in koordinator 1.8
    `classifyNodes` in `pkg/descheduler/framework/plugins/loadaware/utilization_util.go`.
    """
    known = list(loads)
    return LoadClasses(known, [_class_of(load) for load in known])


def _class_of(load: MeasuredNode) -> NodeClass:
    is_schedulable = not load.node.unschedulable
    is_prod_low = is_schedulable and load.prod.is_under
    if is_schedulable and load.whole.is_under:
        if load.prod.is_over:
            return NodeClass.PROD_HIGH
        return NodeClass.BOTH_LOW if is_prod_low else NodeClass.LOW
    if load.whole.is_over:
        return NodeClass.HIGH
    if load.prod.is_over:
        return NodeClass.PROD_HIGH
    return NodeClass.PROD_LOW if is_prod_low else NodeClass.OTHER
