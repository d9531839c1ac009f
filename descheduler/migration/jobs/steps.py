"""What is to be done about a job next: one call, a wait, or nothing any more."""

from __future__ import annotations

from dataclasses import dataclass

from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["End", "Evict", "HoldRoom", "ReleaseRoom", "Save", "Step", "WaitForChange"]


@dataclass(frozen=True, slots=True)
class Save:
    """The job is to be written as it is here."""

    job: MigrationJob


@dataclass(frozen=True, slots=True)
class HoldRoom:
    """Room is to be asked for."""


@dataclass(frozen=True, slots=True)
class Evict:
    """The pod is to leave, in the way `policy` names: `Eviction`, `Delete` or `SoftEviction`."""

    policy: str


@dataclass(frozen=True, slots=True)
class ReleaseRoom:
    """The room is to be given back, and the job is to be written as `then` afterwards."""

    then: MigrationJob


@dataclass(frozen=True, slots=True)
class WaitForChange:
    """Nothing is to be done before something else happens: `why`, for those who ask."""

    why: str


@dataclass(frozen=True, slots=True)
class End:
    """The job has ended."""


Step = Save | HoldRoom | Evict | ReleaseRoom | WaitForChange | End
