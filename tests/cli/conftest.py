from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from descheduler.cli.main import main
from tests import process_logging
from tests.builders import node_object, pod_object
from tests.integration.fixtures import fake_api, kubeconfig
from tests.report.worlds import pod_life_time_policy

__all__ = ["fake_api", "kubeconfig"]


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Descheduler = Callable[..., Ended]


@pytest.fixture
def descheduler(capsys: pytest.CaptureFixture[str]) -> Descheduler:
    """Runs the command line in this process; arguments may be paths."""

    def run(*arguments: str | Path) -> Ended:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Leaves the process's logging as it was."""
    with process_logging.restored():
        yield


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy that evicts pods after a minute."""
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump(pod_life_time_policy()))
    return file


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump of two nodes with two old pods, one of them without an owner."""
    objects = [node_object("a"), node_object("b"), pod_object("old", cpu="500m"), pod_object("bare", owners=())]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file
