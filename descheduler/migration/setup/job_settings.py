"""Which evictions are carried out as jobs, and where those are kept."""

from __future__ import annotations

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.migration.setup.choice import Choice

__all__ = ["JobProfile", "JobStorage"]


class JobProfile(msgspec.Struct, frozen=True):
    """How the evictions of one profile are carried out as jobs."""

    args: MigrationControllerArgs
    choice: Choice


class JobStorage(msgspec.Struct, frozen=True):
    """Where jobs are kept: as PodMigrationJobs, or as ConfigMaps of `namespace`.

    `owner` tells those of one policy, in this run and the next; it may be the value of a label.
    """

    owner: str
    namespace: str
    in_objects: bool
