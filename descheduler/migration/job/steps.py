"""What is to be done about a job next: one call, a wait, or nothing any more."""

from __future__ import annotations

import msgspec

from descheduler.model.koordinator.migration_job import MigrationJob


class Save(msgspec.Struct, frozen=True):
    """The job is to be written as it is here."""

    job: MigrationJob


class HoldRoom(msgspec.Struct, frozen=True):
    """Room is to be asked for."""


class PlanSurge(msgspec.Struct, frozen=True):
    """What is to be scaled for the job is to be found out, and kept in the job before anything is scaled."""


class RaiseReplicas(msgspec.Struct, frozen=True):
    """The workload is to have one replica more."""


class LowerReplicas(msgspec.Struct, frozen=True):
    """The workload is to have its former replicas again, unless somebody else has set them meanwhile."""


class Evict(msgspec.Struct, frozen=True):
    """The pod is to leave, in the way `policy` names: `Eviction`, `Delete`, `SoftEviction` or `ScaleBack`."""

    policy: str


class ReleaseRoom(msgspec.Struct, frozen=True):
    """The room is to be given back, and the job is to be written as `then` afterwards.

    Where `then` is the end of a job, its surge is taken back before.
    """

    then: MigrationJob


class WaitForChange(msgspec.Struct, frozen=True):
    """Nothing is to be done before something else happens: `why`, for those who ask."""

    why: str


class End(msgspec.Struct, frozen=True):
    """The job has ended."""


Step = Save | HoldRoom | PlanSurge | RaiseReplicas | LowerReplicas | Evict | ReleaseRoom | WaitForChange | End
