"""The bytes of a dump in chunks, and its first and last line.

The bytes are of a file or of standard input; gzip is undone on a thread of its own, ahead of the reader. Between the
two lines of a dump that `descheduler snapshot` writes stands one list of Kubernetes objects a line. The last line says
how many objects there must be, so that a dump that was cut short is known as such.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Iterator
from queue import Empty, Queue
from typing import BinaryIO

import msgspec

from descheduler.cluster.snapshot import SnapshotError

API_VERSION = "descheduler.dump/v1"

_GROUP = b'"descheduler.dump/'
_HEAD_BYTES = 200


class DumpHeader(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The first line. `taken_at` is RFC 3339; `kinds` are those that were asked for, as `name.group`."""

    api_version: str
    kind: str
    taken_at: str
    kinds: tuple[str, ...]
    server_version: str = ""
    source: str = ""


_decode_header = msgspec.json.Decoder(DumpHeader).decode


class DumpTrailer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The last line: `name.group` of a kind → number of its objects, and → the version its list was read at."""

    api_version: str
    kind: str
    num_objects: dict[str, int]
    resource_versions: dict[str, str] = {}
    absent_kinds: tuple[str, ...] = ()


_decode_trailer = msgspec.json.Decoder(DumpTrailer).decode


class _Marker(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""


_decode_marker = msgspec.json.Decoder(_Marker).decode


def read_marker(line: bytes) -> DumpHeader | DumpTrailer | None:
    """The header or trailer that `line` is, None for objects. Raises ValueError for one of another format version."""
    if _GROUP not in line[:_HEAD_BYTES]:
        return None
    marker = _decode_marker(line)
    if not marker.api_version.startswith("descheduler.dump/"):
        return None
    if marker.api_version != API_VERSION or marker.kind not in ("DumpHeader", "DumpTrailer"):
        raise ValueError(
            f"{marker.kind} of {marker.api_version!r} was written by another version of descheduler; "
            f"this one reads {API_VERSION}"
        )
    if marker.kind == "DumpHeader":
        return _decode_header(line)
    return _decode_trailer(line)


_CHUNK_BYTES = 1 << 20
_COMPRESSED_BYTES = 1 << 17
_NUM_AHEAD = 4
_GZIP = b"\x1f\x8b"
_MOST_EXPANSION = 200
_MOST_EXPANDED_BYTES = 64 << 20
"""Objects expand to 20 to 60 times the size of their archive. More is a bomb, not worth the memory it asks for."""
_BLANK_LINES = re.compile(rb"[ \t\r\n]*\n")


def read_chunks(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """The content of `stream`, decompressed where it is gzip (also several files in one). Raises SnapshotError."""
    head = stream.read(_COMPRESSED_BYTES)
    if not head.startswith(_GZIP):
        return _plain(stream, head)
    # zlib works without the interpreter's lock, so on two cores decompression costs no time of its own.
    return _ahead(_gunzip(stream, head, source))


def _plain(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    while head:
        yield head
        head = stream.read(_CHUNK_BYTES)


def _gunzip(stream: BinaryIO, head: bytes, source: str) -> Iterator[bytes]:
    compressed, num_compressed, num_expanded = head, len(head), 0
    while compressed:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            try:
                text = member.decompress(compressed, _CHUNK_BYTES)
            except zlib.error as error:
                raise SnapshotError(f"{source}: the gzip data is damaged ({error}); copy or create it again") from error
            num_expanded += len(text)
            if num_expanded > max(_MOST_EXPANDED_BYTES, _MOST_EXPANSION * num_compressed):
                raise SnapshotError(f"{source}: the gzip data expands to more than {_MOST_EXPANSION} times its size")
            if text:
                yield text
            compressed = member.unconsumed_tail
            if not (compressed or member.eof):
                compressed = stream.read(_COMPRESSED_BYTES)
                num_compressed += len(compressed)
            if not (compressed or text or member.eof):
                raise SnapshotError(f"{source}: the gzip data is truncated; copy or create it again")
        # Zeros may pad a file to a block.
        compressed = member.unused_data.lstrip(b"\0")
        while not compressed and (read := stream.read(_COMPRESSED_BYTES)):
            num_compressed += len(read)
            compressed = read.lstrip(b"\0")


def _ahead(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """`chunks`, produced on a thread that runs at most a few chunks ahead."""
    ready: Queue[bytes | Exception | None] = Queue(_NUM_AHEAD)
    is_stopped = threading.Event()

    def produce() -> None:
        end: Exception | None = None
        try:
            for chunk in chunks:
                if is_stopped.is_set():
                    return
                ready.put(chunk)
        except Exception as error:  # handed to the reader, whose call this is
            end = error
        ready.put(end)

    threading.Thread(target=produce, name="gunzip", daemon=True).start()
    try:
        while (chunk := ready.get()) is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk
    finally:
        is_stopped.set()
        # A producer that waits for room gets it, sees that it is stopped and ends.
        while True:
            try:
                ready.get_nowait()
            except Empty:
                break


class LineReader:
    """Iterates over the lines of `chunks`, line ends included, in the memory of one line; `number` is the last one's.

    Blank lines are passed over, most of them at once, so that a file of nothing else costs no time. Of a line of more
    than `max_bytes` only its beginning is given, `is_cut` then being set; `rest` gives what was not read yet.
    """

    def __init__(self, chunks: Iterator[bytes], max_bytes: int) -> None:
        self._chunks = chunks
        self._max_bytes = max_bytes
        self.number = 0
        self.is_cut = False
        self._chunk = b""
        self._start = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        parts: list[bytes] = []
        num_bytes = 0
        while True:
            if not parts:
                self._skip_blank_lines()
            end = self._chunk.find(b"\n", self._start) + 1
            parts.append(self._chunk[self._start : end or None])
            num_bytes += len(parts[-1])
            self._start = end or len(self._chunk)
            self.is_cut = not end and num_bytes > self._max_bytes
            if end or self.is_cut:
                self.number += 1
                return b"".join(parts)
            self._chunk, self._start = next(self._chunks, b""), 0
            if not self._chunk:
                if num_bytes:
                    self.number += 1
                    return b"".join(parts)
                raise StopIteration

    def _skip_blank_lines(self) -> None:
        blank = _BLANK_LINES.match(self._chunk, self._start)
        if blank is not None:
            self.number += self._chunk.count(b"\n", blank.start(), blank.end())
            self._start = blank.end()

    def rest(self, first: bytes) -> Iterator[bytes]:
        """`first` and all bytes after the lines that were read, in chunks."""
        yield from (first[start : start + _CHUNK_BYTES] for start in range(0, len(first), _CHUNK_BYTES))
        if self._start < len(self._chunk):
            yield self._chunk[self._start :]
        yield from self._chunks
