"""No room is held: jobs evict directly, and whatever the scheduler finds has to do.

A node on which room is to be held means nothing here: policies that have nodes chosen name a provider that holds room.
"""

from __future__ import annotations

from datetime import datetime

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.migration.job.seen import ABSENT, Room
from descheduler.migration.room.provider import CannotHold
from descheduler.migration.room.sweeping import KnownJobs, Swept
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod

__all__ = ["NoRooms"]


class NoRooms:
    """The provider `none`. A job that asks for room all the same fails, and nothing is evicted."""

    name = RoomProvider.NONE.value

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Raises CannotHold."""
        del job, now
        raise CannotHold("reservationProvider is none, which holds no room; use mode EvictDirectly")

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """There is none."""
        del job, now
        return ABSENT, None

    def release(self, job: MigrationJob) -> None:
        """Nothing was created."""

    def sweep(self, jobs: KnownJobs) -> Swept:
        """Nothing is ever left."""
        del jobs
        return Swept()
