"""The surge of a job: the only replica of a workload gets a second one, and leaves once that serves.

Kept in an annotation of the job, so that any later run takes back what this one has raised.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, SURGE_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["LOWEST_COST", "RAISED", "SCALE_BACK", "SINGLE", "Surge", "is_surged", "surge_of", "with_surge"]

SINGLE = 1
"""The replicas of a workload that can be surged, before and after."""
RAISED = 2
"""Its replicas in between."""
LOWEST_COST = str(-(2**31))
"""The deletion cost of the pod that is to leave."""
SCALE_BACK = "ScaleBack"
"""How a pod leaves whose workload was surged: the workload is scaled back, and its controller deletes this pod."""


class Surge(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What was decided so far.

    With `is_required` the pod stays where its workload cannot be surged. `kind`, `name` and `uid` are those of the
    Deployment or ReplicaSet that is scaled, in the namespace of the pod; empty while nothing was planned. `declined`
    says why it is not scaled.
    """

    is_required: bool = False
    kind: Literal["", "Deployment", "ReplicaSet"] = ""
    name: str = ""
    uid: str = ""
    declined: str = ""

    @property
    def is_planned(self) -> bool:
        """Whether its workload is scaled, is about to be, or was."""
        return bool(self.uid)

    def decline(self, why: str) -> Surge:
        """Nothing is scaled: `why`."""
        return Surge(self.is_required, declined=why)

    def encoded(self) -> str:
        """As it stands in the annotation."""
        return msgspec.json.encode(self).decode()


_decode_surge = msgspec.json.Decoder(Surge).decode


def surge_of(job: MigrationJob) -> Surge | None:
    """The surge of `job`; None where none was asked for, or where the annotation says nothing of this kind.

    What a user writes into that annotation does not count: only policies say what is surged.
    """
    if CREATED_BY_ANNOTATION not in job.annotations:
        return None
    try:
        return _decode_surge(job.annotations.get(SURGE_ANNOTATION, ""))
    except (ValueError, RecursionError):
        return None


def is_surged(job: MigrationJob) -> bool:
    """Whether its workload is scaled, is about to be, or was: the replacement comes before the pod leaves."""
    surge = surge_of(job)
    return surge is not None and surge.is_planned


def with_surge(job: MigrationJob, surge: Surge) -> MigrationJob:
    """`job` with this surge."""
    return replace(job, annotations={**job.annotations, SURGE_ANNOTATION: surge.encoded()})
