"""What a loop serves of itself: whether it is alive, and how its runs ended; the runs are stand-ins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from descheduler.cli import looping
from descheduler.cli.ending.exit_code import CommandError
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.looping import LoopFlags, run_loop
from descheduler.kube.leases.lease import LeaseHeld
from descheduler.supervision import Watch
from descheduler.telemetry.metrics.serving import ListenAddress, Served
from descheduler.transport.errors import ExchangeError
from tests.cli.test_looping import POLICY, flags_of

Endpoints = Mapping[str, Callable[[], Served]]
LATE = 60


@pytest.fixture
def looped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Endpoints]:
    """Loops over one run, which gets what is served, and whose end is that of the loop; what is served then."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    found: dict[str, Callable[[], Served]] = {}

    @contextmanager
    def served(_address: ListenAddress, endpoints: Endpoints) -> Iterator[str]:
        found.update(endpoints)
        yield "here"

    def loop(run: Callable[[Endpoints], int], *, deadline: timedelta | None = None) -> Endpoints:
        watch = Watch()

        def stand_in(*_given: Any) -> int:
            watch.stop.set()
            return run(found)

        monkeypatch.setattr(looping, "served", served)
        monkeypatch.setattr(looping, "run_policy", stand_in)
        lazy = LazyOptions(mock.Mock(), mock.Mock(), mock.Mock())
        options = replace(flags_of(tmp_path / "policy.yaml"), deadline=deadline)
        assert run_loop(LoopFlags(timedelta(minutes=5), ListenAddress("", 8080)), options, lazy, watch) == 0
        return found

    return loop


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Has the monotonic clock of loops stand at this moment."""
    monkeypatch.setattr(looping, "time", SimpleNamespace(monotonic=lambda: seconds, time=time.time))


@pytest.mark.parametrize(
    ("seconds", "deadline", "status"),
    [
        pytest.param(240 + LATE, timedelta(minutes=4), 200, id="at the end of its time"),
        pytest.param(240 + LATE + 1, timedelta(minutes=4), 503, id="after the end of its time"),
        pytest.param(9999, None, 200, id="without a deadline"),
    ],
)
def test_run_is_late_some_time_after_its_deadline(
    looped: Callable[..., Endpoints],
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    deadline: timedelta | None,
    status: int,
) -> None:
    seen: list[int] = []
    at(monkeypatch, 0)

    def run(endpoints: Endpoints) -> int:
        at(monkeypatch, seconds)
        seen.append(endpoints["/healthz"]().status_code)
        return 0

    after = looped(run, deadline=deadline)

    assert seen == [status]
    assert after["/healthz"]().status_code == 200


def exit_codes(endpoints: Endpoints) -> list[str]:
    """The exit codes that are told of runs."""
    text = endpoints["/metrics"]().body
    lines = (text if isinstance(text, bytes) else b"").decode().splitlines()
    return [line.rpartition(" ")[2] for line in lines if line.startswith("descheduler_run_exit_code ")]


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        pytest.param(ExchangeError("no answer"), ["1.0"], id="the API server does not answer"),
        pytest.param(ValueError("a defect"), ["1.0"], id="a defect"),
        pytest.param(LeaseHeld("another run is active"), [], id="another run is active"),
    ],
)
def test_run_that_fails_is_told_in_the_metrics_and_one_that_was_none_is_not(
    looped: Callable[..., Endpoints], error: Exception, codes: list[str]
) -> None:
    def run(_endpoints: Endpoints) -> int:
        raise error

    assert exit_codes(looped(run)) == codes


def test_loop_that_cannot_listen_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def served(_address: ListenAddress, _endpoints: Endpoints) -> Iterator[str]:
        raise OSError(98, "Address already in use")
        yield ""

    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setattr(looping, "served", served)
    loop = LoopFlags(timedelta(minutes=5), ListenAddress("10.0.0.1", 80))

    with pytest.raises(CommandError) as raised:
        run_loop(loop, flags_of(tmp_path / "policy.yaml"), LazyOptions(mock.Mock(), mock.Mock(), mock.Mock()), Watch())

    assert str(raised.value) == ("cannot listen on 10.0.0.1:80: address already in use; choose another with --listen")
