"""Labels of what is created to hold room."""

from __future__ import annotations

__all__ = ["JOB_LABEL", "OWNER_LABEL", "labels_of"]

JOB_LABEL = "descheduler/job"
"""The UID of the job that an object holds room for."""
OWNER_LABEL = "descheduler/jobs-of"
"""Whose job that is: policies with Leases of their own leave each other's alone."""


def labels_of(job_uid: str, owner: str) -> dict[str, str]:
    """What tells an object that holds room for a job of `owner` from all others."""
    return {JOB_LABEL: job_uid, OWNER_LABEL: owner}
