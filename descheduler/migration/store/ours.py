"""What tells a job of this program from one that only says so.

The annotation that names who created a job is written by whoever creates it. A job is ours when all of it is as this
program writes jobs: its name, that it has no owner, and what every job of ours states.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    PROVIDER_ANNOTATION,
    ROOMS_ANNOTATION,
    SURGE_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.text.printable import clipped

__all__ = ["MAP_PREFIX", "Head", "decode_head", "job_differs", "without_foreign_marks"]

MAP_PREFIX = "descheduler-job-"
"""Beginning of the names of ConfigMaps that hold jobs."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOST_SHOWN = 100
_OF_RUNS = frozenset({SURGE_ANNOTATION, PROVIDER_ANNOTATION, ROOMS_ANNOTATION})
"""Annotations that repeat what the policy and the plan of a run say."""


class _Metadata(msgspec.Struct):
    name: str = ""
    uid: str = ""
    annotations: dict[str, Any] | None = None


class Head(msgspec.Struct):
    """What is read of an object whatever else it holds."""

    metadata: _Metadata

    @property
    def created_by(self) -> object:
        """The creator that the job names, None for none."""
        return (self.metadata.annotations or {}).get(CREATED_BY_ANNOTATION)


decode_head = msgspec.json.Decoder(Head).decode


def job_differs(job: MigrationJob, created_by: str, prefix: str = "") -> str:
    """What tells `job` from one that this program has created as `created_by`, "" where nothing does.

    The name of what keeps it begins with `prefix`.
    """
    if job.annotations.get(CREATED_BY_ANNOTATION) != created_by:
        return f"its annotation {CREATED_BY_ANNOTATION} is not {created_by}"
    if not (job.name.startswith(prefix) and _UUID.fullmatch(job.name.removeprefix(prefix))):
        return f"its name is not {prefix}UUID"
    if job.owned_by:
        return f"{clipped(job.owned_by, _MOST_SHOWN)} owns it"
    if not (job.has_passed and job.annotations.get(PROVIDER_ANNOTATION) and job.mode and job.pod_uid):
        return "it does not state all that jobs of this program state"
    return ""


def without_foreign_marks(job: MigrationJob, created_by: str) -> MigrationJob:
    """`job` with what it says of its surge, its provider and room for pending pods only if this program has created it
    as `created_by`, as far as its name tells: policies and plans alone say these.
    """
    is_claimed = job.annotations.get(CREATED_BY_ANNOTATION) == created_by and _UUID.fullmatch(job.name)
    if is_claimed or _OF_RUNS.isdisjoint(job.annotations):
        return job
    return replace(job, annotations={key: text for key, text in job.annotations.items() if key not in _OF_RUNS})
