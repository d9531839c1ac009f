"""What a dump file is made of: JSON Lines, whole JSON documents or YAML, told apart by content and never by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from descheduler.cluster.builder import printable
from descheduler.cluster.chunks import LineReader
from descheduler.cluster.snapshot import SnapshotError
from descheduler.cluster.yaml_objects import YamlError, json_documents

__all__ = ["read_documents"]

_MAX_BYTES = 4 << 30
_MAX_YAML_BYTES = 256 << 20
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_WAY_OUT = "a dump is what kubectl get nodes,pods,... -A -o json prints, or descheduler snapshot"
_BETWEEN = re.compile(rb"(?<=\})\s*\n\s*(?=\{)")
_BYTE = re.compile(r" ?\(byte (\d+)\)")

_validate = msgspec.json.Decoder(msgspec.Raw).decode


def read_documents(chunks: Iterator[bytes], source: str) -> Iterator[tuple[bytes, str]]:
    """Each JSON object or array in `chunks` with its place (`file:line`), YAML turned into JSON.

    JSON Lines take the memory of one line; anything else that of the file. Raises SnapshotError for what is neither.
    """
    lines = LineReader(chunks, source, _MAX_BYTES)
    first = _first_line(lines, source)
    number = lines.number
    if not first.startswith((b"{", b"[")):
        yield from _yaml_documents(lines.rest(first, _MAX_YAML_BYTES), source, number - 1)
    elif _is_json(first):
        yield first, f"{source}:{number}"
        for line in lines:
            if not line.isspace():
                yield line, f"{source}:{lines.number}"
    else:
        yield from _json_documents(lines.rest(first, _MAX_BYTES), source, number)


def _first_line(lines: LineReader, source: str) -> bytes:
    """The first line that is not blank, without blanks before it."""
    for line in lines:
        if lines.number == 1 and line.startswith(_UTF16_MARKS):
            raise SnapshotError(f"{source}: is UTF-16 text, as PowerShell's > writes; save it as UTF-8")
        if b"\0" in line[:4096]:
            raise SnapshotError(f"{source}: is binary; {_WAY_OUT}, also compressed with gzip")
        text = line.removeprefix(_UTF8_MARK).lstrip()
        if text:
            # Blanks before YAML are indentation, which counts.
            return text if text[0] in b"{[" else line.removeprefix(_UTF8_MARK)
    raise SnapshotError(f"{source}: is empty; {_WAY_OUT}")


def _is_json(line: bytes) -> bool:
    try:
        _validate(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _json_documents(text: bytes, source: str, first_line: int) -> Iterator[tuple[bytes, str]]:
    if _is_json(text):
        yield text, source
        return
    # Several documents that follow each other: nothing else puts an object after an object without a comma.
    start = 0
    for end in (*(match.end() for match in _BETWEEN.finditer(text)), len(text)):
        document, line = text[start:end], first_line + text.count(b"\n", 0, start)
        start = end
        try:
            _validate(document)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise SnapshotError(_json_fault(document, source, line, error)) from error
        yield document, f"{source}:{line}"


def _json_fault(document: bytes, source: str, first_line: int, error: Exception) -> str:
    text = str(error)
    if isinstance(error, RecursionError):
        return f"{source}:{first_line}: is nested too deeply for Kubernetes objects"
    if "truncated" in text:
        num_lines = first_line + document.rstrip().count(b"\n")
        return f"{source}: the JSON is cut short after {num_lines} lines; take it anew"
    place = f"{source}:{first_line}"
    if match := _BYTE.search(text):
        position = int(match[1])
        line = document.count(b"\n", 0, position)
        column = position - (document.rfind(b"\n", 0, position) + 1) + 1
        place = f"{source}:{first_line + line}:{column}"
    return f"{place}: not JSON: {_BYTE.sub('', text).removeprefix('JSON is malformed: ')}; {_WAY_OUT}"


def _yaml_documents(text: bytes, source: str, line_offset: int) -> Iterator[tuple[bytes, str]]:
    is_empty = True
    try:
        for document, line in json_documents(text):
            is_empty = False
            place = f"{source}:{line + line_offset}"
            if not document.startswith((b"{", b"[")):
                shown = printable(document[:40].decode(errors="replace"))
                raise SnapshotError(f"{place}: neither JSON nor YAML objects but {shown}; {_WAY_OUT}")
            yield document, place
    except YamlError as error:
        place = f"{source}:{error.line + line_offset}:{error.column}" if error.line else source
        raise SnapshotError(f"{place}: {printable(str(error))}; {_WAY_OUT}") from error
    if is_empty:
        raise SnapshotError(f"{source}: holds no objects; {_WAY_OUT}")
