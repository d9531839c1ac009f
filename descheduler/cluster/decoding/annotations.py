"""The annotations that some rule reads; objects carry many more, and most of these differ from object to object."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.blocks import decode_text
from descheduler.model.annotations import AnnotationKeys

__all__ = ["AnnotationReader"]

_NONE: Mapping[str, str] = {}
_MAX_IDLE = 10_000
"""No cluster has so many names of annotations, unless something makes one up for each pod."""


class AnnotationReader:
    """Keeps the annotations of `keys`, which some rule reads, and drops all others."""

    def __init__(self, keys: AnnotationKeys) -> None:
        self._keys = keys
        self._idle: set[str] = set()

    def read(self, found: dict[str, msgspec.Raw] | None) -> Mapping[str, str]:
        """The annotations that some rule reads, mostly none. Raises ValueError for one that is not a string."""
        if not found or found.keys() <= self._idle:
            return _NONE
        return self._sort_out(found) or _NONE

    def _sort_out(self, found: dict[str, msgspec.Raw]) -> dict[str, str]:
        wanted: dict[str, str] = {}
        for key, raw in found.items():
            if key in self._keys:
                wanted[key] = decode_text(raw)
            elif len(self._idle) < _MAX_IDLE:
                self._idle.add(key)
        return wanted
