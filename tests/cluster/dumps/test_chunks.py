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

from descheduler.cluster.dumps.chunks import LineReader, read_chunks
from descheduler.cluster.snapshot import SnapshotError


@given(st.binary(max_size=2000), st.lists(st.integers(min_value=0, max_value=2000), max_size=8))
@example(b"\n \n{}\n\n\r\n[]", [2])
def test_lines_are_those_of_the_text_however_it_is_cut(text: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(bounds)]

    reader = LineReader(iter(chunk for chunk in chunks if chunk), 10_000)
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
