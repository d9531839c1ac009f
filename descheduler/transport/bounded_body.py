"""The body of an answer, read and decompressed in pieces under a bound: a server cannot fill the memory."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import Protocol

import urllib3
from urllib3.exceptions import DecodeError, IncompleteRead

SHORT_BYTES = 1 << 20
"""Most of the answer to a write: a confirmation, an error, or the object that was sent, all of some KB. Up to 64 of
them are awaited at once."""

_IDLE_BYTES = 8 << 20
"""So much may be received of a stream, and nothing come of it, before it is given up."""
_PIECE_BYTES = 1 << 18
_PART_BYTES = 1 << 20
_GZIP = zlib.MAX_WBITS | 16
_GZIP_NAMES = frozenset({"gzip", "x-gzip"})
_PLAIN_NAMES = frozenset({"", "identity"})


class BodyTooLargeError(Exception):
    """The body is larger than its bound, before or after decompression."""


class _Decoder(Protocol):
    def parts(self, piece: bytes) -> Iterator[bytes]:
        """What `piece` adds to the body, in parts of bounded size."""

    def finish(self) -> None:
        """Raises IncompleteRead when more was to come."""


class _Plain:
    def parts(self, piece: bytes) -> Iterator[bytes]:
        yield piece

    def finish(self) -> None:
        pass


class _Gzip:
    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._is_begun = False

    def parts(self, piece: bytes) -> Iterator[bytes]:
        self._is_begun = True
        while piece:
            if self._member.eof:  # gzip may come in several members, one after the other
                self._member = zlib.decompressobj(_GZIP)
            try:
                yield self._member.decompress(piece, _PART_BYTES)
            except zlib.error as error:
                raise DecodeError("gzip is damaged") from error
            piece = self._member.unconsumed_tail or self._member.unused_data

    def finish(self) -> None:
        if self._is_begun and not self._member.eof:
            raise IncompleteRead(0, None)  # type: ignore[arg-type]  # how much is missing is unknown


def read_body(response: urllib3.BaseHTTPResponse, *, max_bytes: int) -> bytes:
    """The decompressed body of `response`, whose connection goes back to its pool; it is closed when anything fails.

    Never holds more than `max_bytes` and a part. Raises BodyTooLargeError, DecodeError for an encoding that is damaged
    or that was not asked for, IncompleteRead, and what urllib3 raises.
    """
    try:
        body = _read(response, max_bytes)
    except BaseException:
        response.close()
        raise
    response.release_conn()
    return body


def stream_body(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """The decompressed body of `response`, in parts of bounded size that are not kept; else as `read_body`.

    Raises BodyTooLargeError when much is received and nothing comes of it.
    """
    try:
        decoder = _decoder(response.headers.get("content-encoding", ""))
        num_idle = 0
        for piece in response.stream(_PIECE_BYTES, decode_content=False):
            num_idle += len(piece)
            for part in decoder.parts(piece):
                if part:
                    num_idle = 0
                    yield part
            if num_idle > _IDLE_BYTES:
                raise BodyTooLargeError
        decoder.finish()
    except BaseException:
        response.close()
        raise
    response.release_conn()


def _read(response: urllib3.BaseHTTPResponse, max_bytes: int) -> bytes:
    decoder = _decoder(response.headers.get("content-encoding", ""))
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and len(announced) < 20 and int(announced) > max_bytes:
        raise BodyTooLargeError
    num_received = 0
    with io.BytesIO() as body:  # released even where a traceback holds this frame
        for piece in response.stream(_PIECE_BYTES, decode_content=False):
            num_received += len(piece)
            for part in decoder.parts(piece):
                if body.tell() + len(part) > max_bytes:
                    raise BodyTooLargeError
                body.write(part)
            if num_received > max_bytes:  # of compressed nothing, for example
                raise BodyTooLargeError
        decoder.finish()
        return body.getvalue()


def _decoder(encoding: str) -> _Decoder:
    """Only gzip is asked for. Codings within codings, each of which multiplies a body, are refused."""
    name = encoding.strip().lower()
    if name in _GZIP_NAMES:
        return _Gzip()
    if name in _PLAIN_NAMES:
        return _Plain()
    raise DecodeError("an encoding that was not requested")
