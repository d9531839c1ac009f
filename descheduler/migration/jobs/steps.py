"""What is to be done about a job next: one call, a wait, or nothing any more."""

from __future__ import annotations

import msgspec

from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["End", "Evict", "HoldRoom", "ReleaseRoom", "Save", "Step", "WaitForChange"]


class Save(msgspec.Struct, frozen=True):
    """The job is to be written as it is here."""

    job: MigrationJob


class HoldRoom(msgspec.Struct, frozen=True):
    """Room is to be asked for."""


class Evict(msgspec.Struct, frozen=True):
    """The pod is to leave, in the way `policy` names: `Eviction`, `Delete` or `SoftEviction`."""

    policy: str


class ReleaseRoom(msgspec.Struct, frozen=True):
    """The room is to be given back, and the job is to be written as `then` afterwards."""

    then: MigrationJob


class WaitForChange(msgspec.Struct, frozen=True):
    """Nothing is to be done before something else happens: `why`, for those who ask."""

    why: str


class End(msgspec.Struct, frozen=True):
    """The job has ended."""


Step = Save | HoldRoom | Evict | ReleaseRoom | WaitForChange | End
