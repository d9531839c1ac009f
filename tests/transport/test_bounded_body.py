"""The body of an answer is read under a bound."""

from __future__ import annotations

import gzip
import io
import struct

import pytest
import urllib3
from urllib3.exceptions import DecodeError, IncompleteRead

from descheduler.transport.bounded_body import BodyTooLargeError, read_body, stream_body


def response(body: bytes, **headers: str) -> urllib3.HTTPResponse:
    """An answer with this body; `_` in names of fields stands for `-`."""
    fields = {name.replace("_", "-"): text for name, text in headers.items()}
    return urllib3.HTTPResponse(io.BytesIO(body), headers=fields, preload_content=False)


def compressed_nothing(size: int) -> bytes:
    """A gzip member of `size` bytes, 22 at least, that decompresses to nothing."""
    head = b"\x1f\x8b\x08\x04" + bytes(6) + struct.pack("<H", size - 22) + bytes(size - 22)
    return head + b"\x03\x00" + bytes(8)


@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "X-GZIP "])
def test_body_is_decompressed(encoding: str) -> None:
    raw = gzip.compress(b"hello") if "gzip" in encoding.lower() else b"hello"

    assert read_body(response(raw, content_encoding=encoding), max_bytes=1000) == b"hello"
    assert b"".join(stream_body(response(raw, content_encoding=encoding))) == b"hello"


@pytest.mark.parametrize("is_compressed", [False, True])
def test_body_may_be_as_large_as_its_bound(is_compressed: bool) -> None:
    raw = gzip.compress(b"x" * 1000) if is_compressed else b"x" * 1000
    headers = {"content_encoding": "gzip"} if is_compressed else {}

    assert read_body(response(raw, **headers), max_bytes=1000) == b"x" * 1000
    with pytest.raises(BodyTooLargeError):
        read_body(response(raw, **headers), max_bytes=999)


def test_body_that_is_announced_as_too_large_is_not_read() -> None:
    for length in ("11", "9" * 19):
        with pytest.raises(BodyTooLargeError):
            read_body(response(b"x", content_length=length), max_bytes=10)
    assert read_body(response(b"x" * 10, content_length="10"), max_bytes=10) == b"x" * 10


def test_compressed_nothing_is_read_up_to_the_bound() -> None:
    assert read_body(response(compressed_nothing(1000), content_encoding="gzip"), max_bytes=1000) == b""
    with pytest.raises(BodyTooLargeError):
        read_body(response(compressed_nothing(1001), content_encoding="gzip"), max_bytes=1000)


def test_stream_that_nothing_comes_of_is_given_up() -> None:
    eight_mebibytes = compressed_nothing(1 << 16) * 128

    assert list(stream_body(response(eight_mebibytes, content_encoding="gzip"))) == []
    with pytest.raises(BodyTooLargeError):
        list(stream_body(response(eight_mebibytes + compressed_nothing(22), content_encoding="gzip")))


@pytest.mark.parametrize(
    ("raw", "encoding", "error"),
    [
        pytest.param(b"hello", "gzip", DecodeError, id="not compressed"),
        pytest.param(b"hello", "br", DecodeError, id="an encoding that was not asked for"),
        pytest.param(b"hello", "gzip, gzip", DecodeError, id="two encodings"),
        pytest.param(gzip.compress(b"hello")[:-1], "gzip", IncompleteRead, id="without its last byte"),
    ],
)
def test_body_that_is_damaged_or_cut_short_is_an_error(raw: bytes, encoding: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_body(response(raw, content_encoding=encoding), max_bytes=1000)
    with pytest.raises(error):
        list(stream_body(response(raw, content_encoding=encoding)))


def test_compressed_members_follow_each_other_and_none_is_nothing() -> None:
    two = gzip.compress(b"a") + gzip.compress(b"b")

    assert read_body(response(two, content_encoding="gzip"), max_bytes=1000) == b"ab"
    assert read_body(response(b"", content_encoding="gzip"), max_bytes=1000) == b""
