"""A dump that is piped into the program."""

from __future__ import annotations

import sys

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import SnapshotError


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(SnapshotError, match=r"^standard input: is closed; pipe a dump into it$"):
        read_dump(["-"])
