"""Labels and names of what is created to hold room, and who has created it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

JOB_LABEL = "descheduler/job"
"""The UID of the job that an object holds room for."""
OWNER_LABEL = "descheduler/jobs-of"
"""Whose job that is: policies with Leases of their own leave each other's alone."""


def labels_of(job_uid: str, owner: str) -> dict[str, str]:
    """What an object that holds room for a job of `owner` is looked for by. Whoever writes pods can write them too."""
    return {JOB_LABEL: job_uid, OWNER_LABEL: owner}


def label_fault(labels: Mapping[str, str], owner: str) -> str:
    """Which label an object that holds room for a job of `owner` lacks; "" for none."""
    if not labels.get(JOB_LABEL):
        return f"it has no label {JOB_LABEL}"
    return "" if labels.get(OWNER_LABEL) == owner else f"its label {OWNER_LABEL} is not {owner}"


class _OwnerWire(msgspec.Struct):
    kind: str | None = None
    name: str | None = None


class _ManagedFieldsWire(msgspec.Struct):
    manager: str | None = None


class CreatorsWire(msgspec.Struct, rename="camel"):
    """What the metadata of an object tell of its owners and creators; each may be null, as Kubernetes' own decoder
    has it."""

    owner_references: list[_OwnerWire] | None = None
    managed_fields: list[_ManagedFieldsWire] | None = None

    @property
    def set_by(self) -> frozenset[str]:
        """The field managers that have stated fields of it, none where it has an owner."""
        managed = () if self.owner_references else self.managed_fields or ()
        return frozenset(each.manager or "" for each in managed)


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
