"""What converters give: a policy document, and what of the original is not in it.

Comments of a file in YAML are written again above what became of the lines below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from descheduler.documents.document import Document, TreeNode, find
from descheduler.documents.problems import DocumentProblem, dotted
from descheduler.documents.yaml_document import parse_yaml_documents

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


Path = tuple[str | int, ...]


def with_comments(text: str, original: str, root: TreeNode, origins: Mapping[Path, Path]) -> str:
    """`text`, the YAML of a converted document, with comment lines of `original`, whose values have places in `root`.

    A comment stays above the value that comes from the one below it: the one at the same path, or where `origins` says
    that the value at a path comes from. Comments above other values are left out, and so are those behind a value.
    """
    (converted,) = parse_yaml_documents(text)
    places = dict(_lines_of(root, ()))
    lines = original.splitlines()
    written = text.splitlines()
    above: dict[int, list[str]] = {}
    kept: set[int] = set()
    for path, line in _lines_of(converted, ()):
        source = places.get(origins.get(path, path))
        if source is not None and source not in kept:
            kept.add(source)
            indent = len(written[line - 1]) - len(written[line - 1].lstrip())
            above.setdefault(line, []).extend(" " * indent + comment for comment in _comment_above(lines, source))
    return "".join(
        f"{each}\n" for number, line in enumerate(written, start=1) for each in (*above.get(number, ()), line)
    )


def _comment_above(lines: Sequence[str], number: int) -> list[str]:
    """The comment lines directly above a line, whose number counts from 1, without their indentation."""
    first = number - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return [line.strip() for line in lines[first : number - 1]]


def _lines_of(node: TreeNode, path: Path) -> Iterator[tuple[Path, int]]:
    """Paths of all members and items below `node`, and the lines in which they begin."""
    if isinstance(node.value, Mapping):
        for key, member in node.value.items():
            if member.key_mark is not None:
                yield (*path, key), member.key_mark.line
            yield from _lines_of(member.node, (*path, key))
    elif isinstance(node.value, tuple):
        for index, item in enumerate(node.value):
            if item.mark is not None:
                yield (*path, index), item.mark.line
            yield from _lines_of(item, (*path, index))
