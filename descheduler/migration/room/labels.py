"""Labels and names of what is created to hold room."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "JOB_LABEL",
    "OWNER_LABEL",
    "PLACEHOLDER_CLASS",
    "is_named_as_placeholder",
    "labels_of",
    "manager_of",
    "placeholder_name_of",
]

JOB_LABEL = "descheduler/job"
"""The UID of the job that an object holds room for."""
OWNER_LABEL = "descheduler/jobs-of"
"""Whose job that is: policies with Leases of their own leave each other's alone."""
PLACEHOLDER_CLASS = "descheduler-placeholder"
"""The PriorityClass of placeholders, which is below that of every pod to replace."""


def labels_of(job_uid: str, owner: str) -> dict[str, str]:
    """What an object that holds room for a job of `owner` is looked for by. Whoever writes pods can write them too."""
    return {JOB_LABEL: job_uid, OWNER_LABEL: owner}


def manager_of(job_uid: str) -> str:
    """In whose name the room of the job with this UID is created: that of no other job.

    The API server keeps it (`metadata.managedFields`), whatever admission webhooks make of labels and spec.
    """
    return f"descheduler-room-{job_uid}"


def placeholder_name_of(job_uid: str) -> str:
    """The name of the pod that holds the room of the job with this UID."""
    return f"placeholder-{job_uid}"


def is_named_as_placeholder(name: str, labels: Mapping[str, str]) -> bool:
    """Whether a pod has the name that its label demands of a placeholder."""
    return bool(labels.get(JOB_LABEL)) and name == placeholder_name_of(labels[JOB_LABEL])
