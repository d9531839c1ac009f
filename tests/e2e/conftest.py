"""Fixtures of the end-to-end tests, and the rule that a failure keeps the logs of every control plane in use."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cronjob.rendering import helm, kustomize
from tests.e2e.binaries import Binaries, BinariesMissingError, resolve
from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import ControlPlane, running
from tests.e2e.pins import CONTROL_PLANE, PEERS, Pins
from tests.e2e.program import Program

__all__ = ["helm", "kustomize"]

_HERE = Path(__file__).parent
_MARKS = {
    _HERE / "peers": pytest.mark.e2e_peers,
    _HERE / "image": pytest.mark.image,
    _HERE: pytest.mark.e2e,
}
_LOGS = Path("build") / "e2e-logs"
_FOLDERS = pytest.StashKey[list[Path]]()


def pytest_configure(config: pytest.Config) -> None:
    """Prepares the list of data folders whose logs a failure keeps."""
    config.stash[_FOLDERS] = []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder, so that none of them runs with the others by mistake."""
    for path, of_file in groupby(items, key=lambda item: item.path):
        mark = next((mark for folder, mark in _MARKS.items() if path.is_relative_to(folder)), None)
        for item in of_file:
            if mark is not None:
                item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Copies the logs when a test fails and names their folder in the report."""
    report = yield
    folders = [folder for folder in item.config.stash[_FOLDERS] if folder.exists()]
    if report.failed and folders:
        kept = item.config.rootpath / _LOGS / re.sub(r"[^\w.-]+", "-", item.nodeid)
        for folder in folders:
            shutil.copytree(folder, kept / folder.parent.name, dirs_exist_ok=True)
        report.sections.append(("logs of the control plane", str(kept)))
    return report


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The programs of the control plane."""
    return _resolve(CONTROL_PLANE)


@pytest.fixture(scope="session")
def peer_binaries() -> Binaries:
    """The programs of the control plane and of all peers."""
    return _resolve(CONTROL_PLANE, *PEERS)


@pytest.fixture(scope="session")
def control_plane(binaries: Binaries, pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """One control plane for all tests that do not break it."""
    with _folder(pytestconfig) as folder, running(folder, binaries) as plane:
        yield plane


@pytest.fixture
def cluster(control_plane: ControlPlane) -> Iterator[Cluster]:
    """An empty cluster (no node, a namespace of its own) on the shared control plane."""
    made = _cluster(control_plane)
    yield made
    made.clear()


@pytest.fixture
def program(cluster: Cluster, tmp_path: Path) -> Program:
    """The program as the administrator of `cluster` runs it."""
    return Program(cluster.kubeconfig, tmp_path)


@pytest.fixture
def fresh_cluster(binaries: Binaries, data_folder: Path) -> Iterator[Cluster]:
    """An empty cluster on a control plane of its own, whose parts the test may kill, pause and restart."""
    with running(data_folder, binaries) as plane:
        yield _cluster(plane)


@pytest.fixture
def peer_cluster(peer_binaries: Binaries, data_folder: Path) -> Iterator[Cluster]:
    """Like `fresh_cluster`, with the programs of the peers at hand (`tests/e2e/peers/` starts them)."""
    with running(data_folder, peer_binaries) as plane:
        yield _cluster(plane)


@pytest.fixture
def data_folder(pytestconfig: pytest.Config) -> Iterator[Path]:
    """A folder for a control plane of the test's own; its logs are kept when the test fails."""
    with _folder(pytestconfig) as folder:
        yield folder


@contextmanager
def _folder(config: pytest.Config) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="descheduler-e2e-"))
    config.stash[_FOLDERS].append(folder / "logs")
    try:
        yield folder
    finally:
        config.stash[_FOLDERS].remove(folder / "logs")
        shutil.rmtree(folder, ignore_errors=True)


def _resolve(*pins: Pins) -> Binaries:
    try:
        return resolve(pins, say=print)
    except BinariesMissingError as error:
        pytest.fail(str(error), pytrace=False)


def _cluster(plane: ControlPlane) -> Cluster:
    return Cluster(plane, f"e2e-{uuid4().hex[:8]}")
