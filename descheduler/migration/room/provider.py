"""What the way to hold room has to offer, whatever it is, and the one that holds none.

Without room jobs evict directly, and whatever the scheduler finds has to do. A node on which room is to be held means
nothing then: policies that have nodes chosen name a provider that holds room.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.migration.job.seen import ABSENT, Room
from descheduler.migration.room.sweeping import KnownJobs, Swept
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod


class CannotHold(Exception):  # noqa: N818 - an answer callers act on, named after what it says
    """Room cannot be asked for: the sentence says why, and no repetition in this run helps."""


class CannotHoldNow(CannotHold):
    """The same, for a reason that others can change while the job stays as it is."""


class CannotHoldYet(Exception):  # noqa: N818 - an answer callers act on, named after what it says
    """Room can be asked for once another job of this run has given its own back: the sentence says why."""


class ReservationProvider(Protocol):
    """Holds room for the replacement of a job's pod. Every call may be made again after one whose end is not known.

    All raise ExchangeError.
    """

    @property
    def name(self) -> str:
        """As `reservationProvider` names it."""

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """The name of what holds the room from now on, or will; that of an earlier call for the job.

        Nothing is created when the pod of the job is gone: CannotHold. Raises CannotHoldYet too.
        """

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """The room of `job` as it is at `now`, and the pod that took it, as far as that is there.

        Once the pod was asked to leave, its replacement has taken the room or missed it, and no other pod has.
        """

    def release(self, job: MigrationJob) -> None:
        """Gives back what was created for `job`, and nothing that a user made; it may be gone already.

        Names follow from the UID of the job: it is looked for whatever the job says.
        """

    def sweep(self, jobs: KnownJobs) -> Swept:
        """Gives back what was created for jobs that are no more; what only looks like it is left alone."""


class NoRooms:
    """The provider `none`. A job that asks for room all the same fails, and nothing is evicted."""

    name = RoomProvider.NONE.value

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Raises CannotHold."""
        raise CannotHold("reservationProvider is none, which holds no room; use mode EvictDirectly")

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """There is none."""
        return ABSENT, None

    def release(self, job: MigrationJob) -> None:
        """Nothing was created."""

    def sweep(self, jobs: KnownJobs) -> Swept:
        """Nothing is ever left."""
        return Swept()
