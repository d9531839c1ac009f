"""What a dump file is made of: JSON Lines, whole JSON documents or YAML, told apart by content and never by name."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.cluster.dumps.chunks import LineReader
from descheduler.cluster.dumps.json_pieces import MAX_OBJECT_BYTES, WAY_OUT, read_json
from descheduler.cluster.dumps.yaml_pieces import read_yaml
from descheduler.cluster.snapshot import SnapshotError
from descheduler.documents.json_values import is_json

__all__ = ["read_documents"]

_LINE_BYTES = MAX_OBJECT_BYTES
"""A line is read in one go, which is fastest; 2,500 pods as `descheduler snapshot` writes them have 10 MiB."""
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
