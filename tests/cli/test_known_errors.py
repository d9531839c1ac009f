"""How errors end the program, whatever else happens to be imported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.ending.explaining import known_error
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import node_object

LIVE = "descheduler.cluster.live"


@pytest.fixture(params=[True, False], ids=["live reading is imported", "live reading is not imported"])
def imports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module for live clusters, imported by somebody or by nobody."""
    if request.param:
        monkeypatch.setitem(sys.modules, LIVE, sys)
    else:
        monkeypatch.delitem(sys.modules, LIVE, raising=False)


@pytest.mark.usefixtures("imports")
def test_broken_dump_is_wrong_input(tmp_path: Path) -> None:
    broken = tmp_path / "dump.json"
    broken.write_text(json.dumps(node_object("a") | {"spec": 5}))

    with pytest.raises(SnapshotError) as caught:
        read_dump([broken])

    message, code = known_error(caught.value) or ("", None)
    assert code is ExitCode.INVALID
    assert "dump.json" in message


@pytest.mark.usefixtures("imports")
def test_cluster_that_cannot_be_read_is_a_failure() -> None:
    error = SnapshotError("/api/v1/pods: the list expired 4 times")

    assert known_error(error) == (str(error), ExitCode.FAILED)
