"""What a placed pod took by name, for people to read: the minors of its devices, the reservation that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from descheduler.placement.shadow.shadow_cluster import Placed

__all__ = ["Allocation", "TellingLedger", "allocations_of"]


class Allocation(msgspec.Struct, frozen=True):
    """One thing on a node that `plugin` allocates to a pod, and how much of it.

    `kind` says what it is, such as gpu or reservation; `name` tells it from others of its kind on the node, such as the
    minor of a device. `resources` are amounts in the units of requests.
    """

    plugin: str
    kind: str
    name: str
    resources: Mapping[str, int] = msgspec.field(default_factory=dict)


@runtime_checkable
class TellingLedger(Protocol):
    """A ledger that tells what it took by name. Other ledgers need no such method."""

    def allocations(self, taken: Any) -> tuple[Allocation, ...]:
        """What `taken`, which one `reserve` gave, is made of, in the order in which it is shown."""


def allocations_of(placed: Placed) -> tuple[Allocation, ...]:
    """What was taken for a placed pod by name, ledger by ledger."""
    return tuple(
        allocation
        for ledger, taken in placed.takings
        if isinstance(ledger, TellingLedger)
        for allocation in ledger.allocations(taken)
    )
