"""A snapshot from a dump: files, folders or standard input, in JSON, JSON Lines or YAML, compressed or not.

The formats are told apart by content and never by name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Literal

from descheduler.cluster.budget_counts import with_counted_budgets
from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.dumps.chunks import DumpHeader, DumpTrailer, LineReader, read_chunks, read_marker
from descheduler.cluster.dumps.json_pieces import MAX_OBJECT_BYTES, WAY_OUT, read_json
from descheduler.cluster.dumps.yaml_pieces import read_yaml
from descheduler.cluster.kind import AnyKind, find_traces
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import DumpError, Snapshot, SnapshotError
from descheduler.documents.json_values import is_json
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable

_MOST_EXPLAINED = 3
"""Missing kinds of which a warning says what is not known without them."""
_MOST_NAMED = 5
"""Missing kinds that a warning names."""
_LINE_BYTES = MAX_OBJECT_BYTES
"""A line is read in one go, which is fastest; 2,500 pods as `descheduler snapshot` writes them have 10 MiB."""
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".gz")


def read_dump(
    paths: Sequence[Path | Literal["-"]], request: SnapshotRequest | None = None, *, stdin: BinaryIO | None = None
) -> Snapshot:
    """The snapshot that the files hold together; `-` is `stdin`, by default the standard input of the process.

    Of a folder, all files named like a dump are read, in name order. A needed kind that the dump does not hold is named
    in `warnings`. Raises DumpError, in one sentence, for anything but a whole dump.
    """
    reader = _Reader(SnapshotBuilder(request=request or SnapshotRequest()))
    try:
        with paused_gc():
            for path in _files(paths):
                with _opened(path, stdin) as stream:
                    reader.read(stream, _name_of(path))
            return reader.finish(", ".join(map(_name_of, paths)))
    except SnapshotError as error:
        # Decoding is the same for live clusters, and does not know whose objects it decodes.
        raise DumpError(str(error)) from error


def _name_of(path: Path | Literal["-"]) -> str:
    """What messages and plans call it; names of files may hold bytes that are no text."""
    return "standard input" if path == "-" else printable(str(path))


def _files(paths: Sequence[Path | Literal["-"]]) -> Iterator[Path | Literal["-"]]:
    for path in paths:
        if path == "-" or not os.path.isdir(path):
            yield path
            continue
        found = sorted(_files_in(path))
        if not found:
            raise SnapshotError(f"{_name_of(path)}: no dump in this folder; files must end in {', '.join(_SUFFIXES)}")
        yield from found


def _files_in(folder: Path) -> Iterator[Path]:
    """Files named like a dump. A folder that may not be read is an error, and so is a link to nowhere, once opened."""

    def refuse(error: OSError) -> None:
        raise SnapshotError(f"{printable(str(error.filename))}: {_unreadable(error)}") from error

    for parent, _, names in os.walk(folder, onerror=refuse):
        for file in (Path(parent, name) for name in names if name.endswith(_SUFFIXES)):
            if file.is_file() or not file.exists():
                yield file


@contextmanager
def _opened(path: Path | Literal["-"], stdin: BinaryIO | None) -> Iterator[BinaryIO]:
    try:
        if path == "-":
            yield stdin or _standard_input()
            return
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise SnapshotError(f"{_name_of(path)}: {_unreadable(error)}") from error


def _unreadable(error: OSError) -> str:
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise SnapshotError("standard input: is closed; pipe a dump into it")
    return sys.stdin.buffer


@dataclass
class _Reader:
    """Feeds documents to the builder and keeps account of headers and trailers."""

    builder: SnapshotBuilder
    taken_at: datetime | None = None
    resource_version: str = ""
    absent: set[str] = field(default_factory=set)
    is_of_cluster: bool = False
    """Whether a part of it was written by `descheduler snapshot`, so that no object is a manifest."""

    def read(self, stream: BinaryIO, source: str) -> None:
        """Reads one file whole."""
        header: DumpHeader | None = None
        num_objects = 0
        self.builder.source = source
        for document, line in read_documents(read_chunks(stream, source), source):
            self.builder.line = line
            marker = _marker(document, self.builder.place)
            if marker is None:
                num_objects += self._add(document)
            elif isinstance(marker, DumpHeader):
                _require_trailer(header, source)
                header, num_objects = marker, 0
                self.is_of_cluster = True
                self._note_header(marker, self.builder.place)
            else:
                self._note_trailer(marker, num_objects, self.builder.place)
                header = None
        _require_trailer(header, source)

    def _add(self, document: bytes) -> int:
        is_array = document.lstrip()[:1] == b"["
        return self.builder.add_array(document) if is_array else self.builder.add_object(document)

    def _note_header(self, header: DumpHeader, place: str) -> None:
        try:
            taken_at = datetime.fromisoformat(header.taken_at)
        except ValueError as error:
            raise SnapshotError(f"{place}: takenAt {header.taken_at!r} is not a time") from error
        taken_at = taken_at if taken_at.tzinfo else taken_at.replace(tzinfo=UTC)
        # Of several dumps, the oldest says how old the whole may be.
        self.taken_at = min(self.taken_at or taken_at, taken_at)

    def _note_trailer(self, trailer: DumpTrailer, num_objects: int, place: str) -> None:
        expected = sum(trailer.num_objects.values())
        if num_objects != expected:
            raise SnapshotError(
                f"{place}: the dump holds {num_objects} objects where {expected} were written; create it again"
            )
        self.builder.kinds.update(self._known(trailer.num_objects))
        self.absent.update(self._known(trailer.absent_kinds))
        self.resource_version = trailer.resource_versions.get("Pod", self.resource_version)

    def finish(self, source: str) -> Snapshot:
        """The snapshot of all files. Raises SnapshotError when there is no node in them."""
        builder = self.builder
        builder.source, builder.line = source, 0
        if not builder.nodes:
            raise SnapshotError(
                f"{source}: no nodes; a dump needs them: kubectl get nodes,pods,poddisruptionbudgets,... -A -o json"
            )
        missing = _missed(builder)
        builder.warnings += _missing_warnings(
            [kind for kind in missing if kind.key in self.absent],
            [kind for kind in missing if kind.key not in self.absent],
        )
        snapshot = replace(
            builder.finish(taken_at=self.taken_at, resource_version=self.resource_version),
            missing_kinds=tuple([kind.resource for kind in _by_name(missing) if kind.key not in self.absent]),
        )
        return snapshot if self.is_of_cluster else with_counted_budgets(snapshot)

    def _known(self, keys: Iterable[str]) -> Iterator[str]:
        """The `keys` that stand for a kind that is read."""
        kinds = self.builder.request.kinds
        return (key for key in keys if key in kinds)


def _marker(document: bytes, place: str) -> DumpHeader | DumpTrailer | None:
    try:
        return read_marker(document)
    except RecursionError:
        return None  # no header or trailer nests anything
    except ValueError as error:
        raise SnapshotError(f"{place}: {error}") from error


def _require_trailer(header: DumpHeader | None, source: str) -> None:
    if header is not None:
        raise SnapshotError(f"{source}: the last line is missing: the dump is truncated; create it again")


def _missed(builder: SnapshotBuilder) -> list[AnyKind]:
    """The needed kinds that are not there and could change a result."""
    missing = [kind for kind in builder.request.needed_kinds() if kind.key not in builder.kinds]
    if not any(kind.traces for kind in missing):
        return missing
    traces = find_traces(builder.pods, builder.nodes) | builder.request.traces
    return [kind for kind in missing if not kind.traces or not kind.traces.isdisjoint(traces)]


def _missing_warnings(unserved: Sequence[AnyKind], left_out: Sequence[AnyKind]) -> Iterator[str]:
    """A sentence about needed kinds that the cluster does not serve, and one about those that the dump lacks."""
    if unserved:
        yield f"the cluster of the dump does not serve {_names(unserved)}, which an enabled plugin reads"
    if left_out:
        are = "1 kind is" if len(left_out) == 1 else f"{len(left_out)} kinds are"
        yield (
            f"{are} not in the dump and assumed to be empty: {_resources(left_out)};"
            " 'descheduler snapshot' writes every kind that is read"
        )


def _by_name(kinds: Iterable[AnyKind]) -> list[AnyKind]:
    return sorted(kinds, key=lambda kind: (kind.name, kind.group))


def _resources(kinds: Sequence[AnyKind]) -> str:
    """As kubectl names them: a few with what is not known without them, the first ones of many."""
    in_order = _by_name(kinds)
    if len(in_order) > _MOST_EXPLAINED:
        more = len(in_order) - _MOST_NAMED
        names = ", ".join(kind.resource for kind in in_order[:_MOST_NAMED])
        return f"{names} and {counted(more, 'other')} ('descheduler run -o wide' lists them)" if more > 0 else names
    return ", ".join(f"{kind.resource} ({kind.purpose})" for kind in in_order)


def _names(kinds: Iterable[AnyKind]) -> str:
    return ", ".join(kind.name for kind in _by_name(kinds))


def read_documents(chunks: Iterator[bytes], source: str) -> Iterator[tuple[bytes, int]]:
    """JSON objects, lists and arrays of some MiB with the line each starts on; YAML is turned into JSON.

    Takes the memory of one line, or of one object, never that of the file. Raises SnapshotError for what is neither.
    """
    lines = LineReader(chunks, _LINE_BYTES)
    first = _first_line(lines, source)
    number = lines.number
    if not first.startswith((b"{", b"[")):
        yield from read_yaml(lines.rest(first), source, number)
    elif not is_json(first):
        yield from read_json(lines.rest(first), source, number)
    else:
        yield first, number
        for line in lines:
            if lines.is_cut:
                yield from read_json(lines.rest(line), source, lines.number)
            elif not line.isspace():
                yield line, lines.number


def _first_line(lines: LineReader, source: str) -> bytes:
    """The first line that is not blank, without blanks before it."""
    for line in lines:
        if lines.number == 1 and line.startswith(_UTF16_MARKS):
            raise SnapshotError(f"{source}: is UTF-16 text, as PowerShell's > writes; save it as UTF-8")
        if b"\0" in line[:4096]:
            raise SnapshotError(f"{source}: is binary; {WAY_OUT}, also compressed with gzip")
        text = line.removeprefix(_UTF8_MARK).lstrip()
        if text:
            # Blanks before YAML are indentation, which counts.
            return text if text[0] in b"{[" else line.removeprefix(_UTF8_MARK)
    raise SnapshotError(f"{source}: is empty; {WAY_OUT}")
