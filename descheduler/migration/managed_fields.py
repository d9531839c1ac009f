"""Who has stated a field of an object, by its `metadata.managedFields`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec


class ManagedFields(msgspec.Struct, rename="camel"):
    """What one field manager has stated. Each may be null, as Kubernetes' own decoder has it."""

    manager: str | None = None
    fields_v1: dict[str, Any] | None = msgspec.field(name="fieldsV1", default=None)

    def state(self, path: tuple[str, ...]) -> bool:
        """Whether the field at `path` is among them, such as ("spec", "replicas")."""
        fields: Any = self.fields_v1 or {}
        for key in path:
            fields = fields.get(f"f:{key}") if isinstance(fields, dict) else None
        return fields is not None


def managers_of(path: tuple[str, ...], managed: Iterable[ManagedFields] | None) -> list[str]:
    """The field managers that have stated the field at `path`, "" for one without a name.

    One is named twice that has stated it by an update and by an apply.
    """
    return [each.manager or "" for each in managed or () if each.state(path)]
