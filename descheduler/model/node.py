"""Nodes as the scheduler and the descheduler see them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.node_reservation import NodeReservation
from descheduler.model.requests import ResourceList
from descheduler.model.selection.taints import Taint

__all__ = ["Node"]


class Node(msgspec.Struct, frozen=True, eq=False):
    """One node. `allocatable` and `capacity` are in nano units; without a Ready condition a node counts as ready.

    `images` maps every name of an image that the node holds to its size in bytes. `reservation` is what is withheld
    from pods; where `is_trimmed`, the snapshot has taken it off `allocatable` (`SnapshotRequest.trims_reservations`).
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    unschedulable: bool
    taints: tuple[Taint, ...]
    allocatable: ResourceList
    capacity: ResourceList
    is_ready: bool
    images: Mapping[str, int] = {}
    declared_features: frozenset[str] = frozenset()
    reservation: NodeReservation | None = None
    is_trimmed: bool = False

    @property
    def for_pods(self) -> ResourceList:
        """What pods may request: `allocatable` without the reservation, whether or not the snapshot took it off."""
        if self.reservation is None or self.is_trimmed:
            return self.allocatable
        return self.reservation.rest_of(self.allocatable)
