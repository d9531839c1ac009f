"""Label and field selectors of lists, as far as runs send any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.faults.objects import Object


def is_selected(item: Object, query: Mapping[str, str]) -> bool:
    """Whether the object is in a list with these query parameters."""
    labels = item["metadata"].get("labels") or {}
    wanted = _requirements(query.get("labelSelector", ""))
    if not all(labels.get(key, "") == value for key, value in wanted):
        return False
    return all(_field(item, key) == value for key, value in _requirements(query.get("fieldSelector", "")))


def _requirements(text: str) -> list[tuple[str, str]]:
    parts = (part.partition("=") for part in text.split(",") if part)
    return [(key, value.lstrip("=")) for key, _, value in parts]


def _field(item: Object, key: str) -> str:
    found: Any = item
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return str(found or "")
