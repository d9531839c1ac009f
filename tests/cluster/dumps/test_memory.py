"""Dumps of every size take the memory of a piece of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cluster.dumps.reading_memory import TEXTS

pytestmark = pytest.mark.long

_MOST_MEBIBYTES = 200


@pytest.mark.parametrize("name", TEXTS)
def test_reading_takes_the_memory_of_a_piece(name: str) -> None:
    command = [sys.executable, "-m", "tests.cluster.dumps.reading_memory", name]

    ended = subprocess.run(command, capture_output=True, text=True, check=True)

    mebibytes, said = ended.stdout.split(" ", 1)
    assert int(mebibytes) <= _MOST_MEBIBYTES
    assert said == "read 1 nodes\n" if name.startswith("a large dump") else said.startswith("standard input:")
