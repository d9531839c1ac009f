"""The mark of a pod that is to leave its surged workload: the lowest deletion cost, which users may set as well."""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.migration.job.surge import LOWEST_COST
from descheduler.model.koordinator.eviction_annotations import DELETION_COST_ANNOTATION

__all__ = ["Mark", "decode_mark"]


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _ManagedFields(_Wire):
    manager: str | None = None
    fields_v1: dict[str, Any] | None = msgspec.field(name="fieldsV1", default=None)


class _Metadata(_Wire):
    uid: str
    annotations: dict[str, str] | None = None
    managed_fields: list[_ManagedFields] | None = None


class _Pod(_Wire):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Pod).decode


class Mark(msgspec.Struct, frozen=True):
    """The deletion cost of the pod with this UID, "" for none; `set_by` are the field managers that have stated it."""

    uid: str
    cost: str
    set_by: frozenset[str]

    def is_set_by(self, manager: str, *, has_set: bool) -> bool:
        """Whether it is the mark that `manager` has set, and nobody else has stated it.

        `has_set` decides where the API server does not tell who has.
        """
        if self.cost != LOWEST_COST:
            return False
        return self.set_by == {manager} if self.set_by else has_set


def decode_mark(block: bytes) -> Mark:
    """That of the pod of these bytes."""
    metadata = _decode(block).metadata
    set_by = {each.manager or "" for each in metadata.managed_fields or () if _sets_cost(each)}
    return Mark(metadata.uid, (metadata.annotations or {}).get(DELETION_COST_ANNOTATION, ""), frozenset(set_by))


def _sets_cost(fields: _ManagedFields) -> bool:
    of_metadata = (fields.fields_v1 or {}).get("f:metadata")
    annotations = of_metadata.get("f:annotations") if isinstance(of_metadata, dict) else None
    return isinstance(annotations, dict) and f"f:{DELETION_COST_ANNOTATION}" in annotations
