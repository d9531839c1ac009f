"""What converters give: a policy document, and what of the original is not in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from descheduler.documents.document import Document, TreeNode, find
from descheduler.documents.problems import DocumentProblem, dotted

__all__ = ["API_VERSION", "Conversion", "ConversionNotes", "configuration_of"]

API_VERSION = "descheduler/v1alpha2"


class Conversion(msgspec.Struct, frozen=True):
    """A document that loads, and the places of the original that it leaves out or changes, in their order."""

    document: Mapping[str, object]
    notes: tuple[DocumentProblem, ...] = ()
    origins: Mapping[tuple[str | int, ...], tuple[str | int, ...]] = {}
    """Paths in the document → other paths in the original that they come from."""
    root: TreeNode = TreeNode(None)
    """The original."""


@dataclass(slots=True)
class ConversionNotes:
    """Collects what a converter leaves out of `document`, by place."""

    document: Document
    found: list[DocumentProblem] = field(default_factory=list)

    def add(self, path: Sequence[str | int], message: str) -> None:
        """Notes what is said at `path`."""
        mark = find(self.document.root, tuple(path)).mark
        line, column = (mark.line, mark.column) if mark else (None, None)
        self.found.append(DocumentProblem(self.document.path, line, column, dotted(path), message))

    def of(
        self,
        document: Mapping[str, object],
        origins: Mapping[tuple[str | int, ...], tuple[str | int, ...]] = MappingProxyType({}),
    ) -> Conversion:
        """The conversion to `document`, notes on the whole first; `origins` as in the conversion."""
        notes = tuple(sorted(self.found, key=lambda note: (note.line or 0, note.column or 0)))
        return Conversion(document, notes, origins, self.document.root)


def configuration_of(profiles: Sequence[Mapping[str, object]], **settings: object) -> dict[str, object]:
    """A DeschedulerConfiguration with these profiles; settings that are None are left out."""
    stated = {key: value for key, value in settings.items() if value is not None}
    return {"apiVersion": API_VERSION, "kind": "DeschedulerConfiguration", **stated, "profiles": list(profiles)}
