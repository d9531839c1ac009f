from __future__ import annotations

import io
import os

from descheduler.telemetry.console import PatientStream


def test_stream_without_a_file_takes_everything() -> None:
    stream = io.StringIO()

    PatientStream(stream).write("a" * 5000)

    assert stream.getvalue() == "a" * 5000


def test_pipe_that_nobody_reads_holds_nobody_up() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        patient = PatientStream(stream)

        for _ in range(100):
            patient.write("x" * 4000)

        os.set_blocking(reader, False)
        assert 0 < len(os.read(reader, 1 << 20)) < 400_000
        os.close(reader)


def test_pipe_without_a_reader_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w")

    PatientStream(stream).write("x")

    os.dup2(os.open(os.devnull, os.O_WRONLY), writer)  # what is left in its buffer goes there
    stream.close()
    assert stream.closed
