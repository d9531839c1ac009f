"""The ways to hold room that `reservationProvider` names, and what policies and filters have to know of each."""

from __future__ import annotations

from enum import StrEnum

PLACEHOLDER_CLASS = "descheduler-placeholder"
"""The PriorityClass of placeholders, which is below that of every pod to replace."""


class RoomProvider(StrEnum):
    """As `reservationProvider` names it; `migration/room/table.py` has the row that makes it."""

    KOORDINATOR = "koordinator"
    """Reservations."""
    PLACEHOLDER = "placeholder"
    """A pause pod."""
    NONE = "none"

    @property
    def holds_room(self) -> bool:
        """Whether the replacement finds its room held."""
        return self is not RoomProvider.NONE

    @property
    def needs_koordinator(self) -> bool:
        """Whether Koordinator has to be installed, and has to schedule the pod."""
        return self is RoomProvider.KOORDINATOR

    @property
    def makes_pods(self) -> bool:
        """Whether pods hold the room, which count against a ResourceQuota as others do."""
        return self is RoomProvider.PLACEHOLDER

    @classmethod
    def named(cls, reservation_provider: str) -> RoomProvider | None:
        """The one that a policy names; None where it leaves the choice to the run."""
        return cls(reservation_provider) if reservation_provider else None
