"""What holds for every test."""

from __future__ import annotations

import gc
import importlib
import os
import signal
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.writes.page import objection
from tests.writes.recorder import RECORDER

# A busy machine must not fail a property: neither how long an example takes nor how long it takes to find one counts.
settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("timeless")

_HERE = Path(__file__).parent
_YOUNG_OBJECTS = 50_000
"""That many new ones make the garbage collector look for cycles."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-long", action="store_true", help="leave out the tests that are marked `long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--without-long"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_configure() -> None:
    """Has a hangup end what the tests start. Under nohup each of these would inherit that it is ignored."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores, for many tests wait for processes, servers and deadlines."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is collected stays until the end, so the garbage collector leaves it alone, and looks at it rarely later.

    It is not frozen: each run asks whether something is, and is told the number, for which all of it is counted.
    """
    gc.disable()
    try:
        if session.config.args == session.config.getini("testpaths"):
            _import_from_own_place(session.config)
        return (yield)
    finally:
        gc.set_threshold(_YOUNG_OBJECTS)
        gc.enable()


def _import_from_own_place(config: pytest.Config) -> None:
    """Has each worker begin with other modules, so that in a new checkout each module is compiled by one of them."""
    worker: Mapping[str, Any] = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    modules = sorted(path.relative_to(config.rootpath) for path in _HERE.rglob("test_*.py"))
    start = len(modules) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for path in modules[start:] + modules[:start]:
        with suppress(Exception):  # collecting the module says what is wrong with it
            importlib.import_module(".".join(path.with_suffix("").parts))


@pytest.fixture(autouse=True)
def writes_are_listed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Holds all that a test's runs have written to fake API servers against docs/explanation/writes.md.

    Tests that make such calls themselves are marked `own_calls`.
    """
    RECORDER.take()
    yield
    objections = sorted({found for call in RECORDER.take() if (found := objection(call))})
    if objections and request.node.get_closest_marker("own_calls") is None:
        pytest.fail("not as docs/explanation/writes.md has it:\n" + "\n".join(objections))
