"""Chunks and lines of a stream."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Generator
from itertools import islice, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from descheduler.cluster.dumps import chunks
from descheduler.cluster.dumps.chunks import DumpHeader, DumpTrailer, LineReader, read_chunks, read_marker
from descheduler.cluster.snapshot import SnapshotError


@given(st.binary(max_size=2000), st.lists(st.integers(min_value=0, max_value=2000), max_size=8))
@example(b"\n \n{}\n\n\r\n[]", [2])
def test_lines_are_those_of_the_text_however_it_is_cut(text: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    cut = [text[start:end] for start, end in pairwise(bounds)]

    reader = LineReader(iter(chunk for chunk in cut if chunk), 10_000)
    lines = [(reader.number, line) for line in reader if line.strip()]

    expected = enumerate(io.BytesIO(text).readlines(), 1)
    assert lines == [(number, line) for number, line in expected if line.strip()]


@pytest.mark.long
@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4))
def test_compressed_members_are_the_text_of_all(parts: list[bytes]) -> None:
    stream = io.BytesIO(b"".join(gzip.compress(part) for part in parts))

    assert b"".join(read_chunks(stream, "dump")) == b"".join(parts)


def test_line_above_the_bound_is_given_in_part_and_the_rest_follows() -> None:
    chunks = iter([b"x" * 600, b"x" * 600, b"y" * 600 + b"\n"])
    reader = LineReader(chunks, 1000)

    line = next(reader)

    assert (line, reader.is_cut) == (b"x" * 1200, True)
    assert b"".join(reader.rest(line)) == b"x" * 1200 + b"y" * 600 + b"\n"


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8), st.integers(min_value=0, max_value=5))
def test_rest_is_what_the_lines_left(chunks: list[bytes], num_lines: int) -> None:
    reader = LineReader(iter(chunks), 10_000)
    lines = list(islice(reader, num_lines))

    rest = b"".join(reader.rest(b"first"))

    text = b"".join(chunks)
    num_read = sum(map(len, io.BytesIO(text).readlines()[: reader.number]))
    assert len(lines) <= num_lines
    assert rest.removeprefix(b"first").lstrip() == text[num_read:].lstrip()


def test_thread_ends_when_the_reader_gives_up() -> None:
    stream = io.BytesIO(gzip.compress(b"\0" * (64 << 20)))
    chunks = read_chunks(stream, "dump")
    assert isinstance(chunks, Generator)

    next(chunks)
    threads = [thread for thread in threading.enumerate() if thread.name == "gunzip"]
    chunks.close()
    for thread in threads:
        thread.join(timeout=10)

    assert threads
    assert not any(thread.is_alive() for thread in threads)


def test_archive_that_expands_beyond_all_measure_is_refused() -> None:
    bomb = io.BytesIO(gzip.compress(b" " * (80 << 20), 1))

    with pytest.raises(SnapshotError, match="dump: the gzip data expands to more than 200 times its size"):
        list(read_chunks(bomb, "dump"))


@pytest.mark.long
def test_small_file_that_is_a_bomb_is_read_in_small_chunks() -> None:
    stream = io.BytesIO(gzip.compress(b"\0" * (64 << 20)))

    assert max(len(chunk) for chunk in read_chunks(stream, "dump")) <= 1 << 20


@pytest.mark.parametrize("size", [7, 50, 1 << 17], ids=["tiny pieces", "small pieces", "one piece"])
@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(gzip.compress(b"a" * 1000), b"a" * 1000, id="one member"),
        pytest.param(gzip.compress(b"a") + gzip.compress(b"") + gzip.compress(b"b"), b"ab", id="an empty one"),
        pytest.param(gzip.compress(b"a") + b"\0" * 300, b"a", id="padded with zeros"),
        pytest.param(gzip.compress(b"a") + b"\0" * 300 + gzip.compress(b"b"), b"ab", id="zeros between"),
    ],
)
def test_archive_is_read_wherever_its_pieces_end(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, text: bytes, size: int
) -> None:
    monkeypatch.setattr(chunks, "_COMPRESSED_BYTES", size)

    assert b"".join(read_chunks(io.BytesIO(raw), "dump")) == text


@pytest.mark.parametrize("size", [7, 1 << 17])
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        pytest.param(gzip.compress(b"a" * 1000)[:-1], "truncated", id="without its last byte"),
        pytest.param(gzip.compress(b"a" * 1000)[:-9], "truncated", id="without its sum"),
        pytest.param(gzip.compress(b"a" * 1000)[:12], "truncated", id="its beginning"),
        pytest.param(gzip.compress(b"a") + gzip.compress(b"b")[:-3], "truncated", id="a second one"),
        pytest.param(gzip.compress(b"a" * 1000)[:-8] + b"x" * 8, "damaged", id="with another sum"),
        pytest.param(gzip.compress(b"a") + b"more", "damaged", id="with something behind it"),
    ],
)
def test_archive_that_is_not_whole_is_refused(monkeypatch: pytest.MonkeyPatch, raw: bytes, why: str, size: int) -> None:
    monkeypatch.setattr(chunks, "_COMPRESSED_BYTES", size)

    with pytest.raises(SnapshotError, match=f"^dump: the gzip data is {why}"):
        list(read_chunks(io.BytesIO(raw), "dump"))


def test_archive_may_expand_as_far_as_objects_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_MOST_EXPANDED_BYTES", 1000)
    raw = gzip.compress(b" " * 1000)
    monkeypatch.setattr(chunks, "_MOST_EXPANSION", 1)

    assert len(b"".join(read_chunks(io.BytesIO(raw), "dump"))) == 1000
    with pytest.raises(SnapshotError, match="expands to more than 1 times its size"):
        list(read_chunks(io.BytesIO(gzip.compress(b" " * 1001)), "dump"))


@pytest.mark.parametrize(("num_bytes", "is_cut"), [(1000, False), (1001, True)])
def test_line_is_cut_beyond_its_bound_alone(num_bytes: int, is_cut: bool) -> None:
    reader = LineReader(iter([b"x" * num_bytes, b"y\n", b"z\n"]), 1000)

    lines = [(next(reader), reader.number, reader.is_cut)]

    assert lines == [(b"x" * num_bytes + (b"" if is_cut else b"y\n"), 1, is_cut)]
    assert b"".join(reader.rest(b"")) == (b"y\nz\n" if is_cut else b"z\n")


HEADER = b'{"kind":"DumpHeader","apiVersion":"descheduler.dump/v1","takenAt":"t","kinds":["Pod"]}'
TRAILER = b'{"kind":"DumpTrailer","apiVersion":"descheduler.dump/v1","numObjects":{"Pod":1}}'


def test_lines_of_the_program_itself_are_told_from_objects() -> None:
    assert read_marker(HEADER) == DumpHeader("descheduler.dump/v1", "DumpHeader", "t", ("Pod",))
    assert read_marker(TRAILER) == DumpTrailer("descheduler.dump/v1", "DumpTrailer", {"Pod": 1})
    assert read_marker(b'{"kind":"Pod","apiVersion":"v1"}') is None
    assert read_marker(b'{"a":"descheduler.dump/v1","kind":"Pod","apiVersion":"v1"}') is None
    assert read_marker(b'{"kind":"Pod","apiVersion":"v1","x":"' + b"x" * 200 + b'"descheduler.dump/') is None


@pytest.mark.parametrize(("old", "new"), [(b"dump/v1", b"dump/v2"), (b"DumpHeader", b"DumpBody")])
def test_line_of_another_format_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(ValueError, match="was written by another version of descheduler"):
        read_marker(HEADER.replace(old, new))
