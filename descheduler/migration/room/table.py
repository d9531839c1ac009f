"""The ways to hold room, a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS, RoomProvider

if TYPE_CHECKING:
    from descheduler.kube.objects import ObjectCalls
    from descheduler.migration.room.offer import ClusterOffer
    from descheduler.migration.room.provider import ReservationProvider

__all__ = ["PROVIDERS", "ProviderRow"]


class ProviderRow(msgspec.Struct, frozen=True):
    """A way to hold room.

    `make` gives what holds it for the jobs of an owner, a name that a label may have. `means` is what room is held by,
    for sentences. `is_offered` tells whether a cluster has what that needs, and `missing` what is missing and the way
    out where it has not.
    """

    make: Callable[[ObjectCalls, str], ReservationProvider]
    means: str
    is_offered: Callable[[ClusterOffer], bool]
    missing: str = ""


# Each imports its module when it is called: runs without jobs go without all of them.


def _reservations(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.koordinator.provider import ReservationRooms

    return ReservationRooms(objects, owner)


def _placeholders(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.placeholder.pod import PlaceholderSettings
    from descheduler.migration.room.placeholder.provider import PlaceholderRooms

    return PlaceholderRooms(objects, owner, PlaceholderSettings())


def _nothing(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.none import NoRooms

    del objects, owner
    return NoRooms()


PROVIDERS: Mapping[RoomProvider, ProviderRow] = {
    RoomProvider.KOORDINATOR: ProviderRow(
        _reservations,
        "Reservations of Koordinator",
        lambda offer: offer.has_reservations,
        "Reservations; install Koordinator, or use placeholder or none",
    ),
    RoomProvider.PLACEHOLDER: ProviderRow(
        _placeholders,
        "placeholder pods",
        lambda offer: offer.has_placeholder_class,
        f"PriorityClass {PLACEHOLDER_CLASS}; apply cronjob/overlays/placeholder, or use none",
    ),
    RoomProvider.NONE: ProviderRow(_nothing, "nothing", lambda offer: True),
}
"""In the order in which a job that names none gets one: first those that hold room."""
