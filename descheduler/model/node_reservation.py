"""What is withheld of a node from pods, as Koordinator's annotation `node.koordinator.sh/reservation` says it."""

from __future__ import annotations

import msgspec

from descheduler.model.requests import ResourceList

__all__ = ["BATCH_RESOURCES", "NODE_RESERVATION_ANNOTATION", "NodeReservation"]

NODE_RESERVATION_ANNOTATION = "node.koordinator.sh/reservation"

BATCH_RESOURCES = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
"""koord-manager has taken the reservation out of them already."""


class NodeReservation(msgspec.Struct, frozen=True):
    """A reservation in effect: `amounts` in nano units, of cpu that of `cpus` where CPUs are named.

    With `withholds_amounts` (policy `Default`) the amounts are no capacity for pods; without it (`ReservedCPUsOnly`,
    or an unknown policy) only the CPUs are closed to pods that are pinned to CPUs.
    """

    amounts: ResourceList
    cpus: frozenset[int]
    withholds_amounts: bool

    def rest_of(self, allocatable: ResourceList) -> ResourceList:
        """The part of `allocatable` left for pods, at least 0; a reserved resource that the node lacks counts as 0.

        Source: koordinator 1.8 `pkg/util/node.go`, `TrimNodeAllocatableByNodeReservation`, which also writes the batch
        resources to nodes that have none.
        """
        if not self.withholds_amounts:
            return allocatable
        names = dict.fromkeys((*allocatable, *self.amounts))
        rest = {name: max(0, allocatable.get(name, 0) - self.amounts.get(name, 0)) for name in names}
        return rest | {name: allocatable.get(name, 0) for name in BATCH_RESOURCES}
