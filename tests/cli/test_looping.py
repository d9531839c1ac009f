"""How a loop goes on, or ends, after a run; the runs themselves are stand-ins."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from descheduler.cli import looping
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.looping import LoopFlags, run_loop
from descheduler.cli.output import Output
from descheduler.cli.running import RunFlags
from descheduler.cycle.live.leading import Leader
from descheduler.eviction.checks.scope import Scope
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.supervision import Watch

POLICY = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n"


def flags_of(policy: Path) -> RunFlags:
    return RunFlags(
        policy_file=str(policy),
        snapshot=(),
        dry_run=True,
        now=None,
        output=Output("table"),
        client_connection_qps=None,
        client_connection_burst=None,
        deadline=None,
        feature_gates={},
        skip_broken_objects=False,
        detailed_exitcode=False,
        scope=Scope(),
        assess_landings=None,
    )


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, int, Watch]]:
    """Loops over a stand-in for runs: the exit code, the number of runs, and the watch of the program."""
    (tmp_path / "policy.yaml").write_text(POLICY)

    def looped(run: Callable[[Watch], int]) -> tuple[int, int, Watch]:
        watches: list[Watch] = []

        def stand_in(*given: Any) -> int:
            if len(watches) == 5:
                raise KeyboardInterrupt
            watches.append(given[-1])
            return run(given[-1])

        monkeypatch.setattr(looping, "run_policy", stand_in)
        watch, lazy = Watch(), LazyOptions(mock.Mock(), mock.Mock(), mock.Mock())
        code = run_loop(LoopFlags(timedelta(seconds=0.01), None), flags_of(tmp_path / "policy.yaml"), lazy, watch)
        return code, len(watches), watch

    return looped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_ends_the_search_of_a_dry_run_ends_the_loop_after_it(
    loop: Callable[..., tuple[int, int, Watch]], number: signal.Signals
) -> None:
    def search(watch: Watch) -> int:
        watch.may_end_search = True
        signal.raise_signal(number)
        return 0

    code, num_runs, _ = loop(search)

    assert (code, num_runs) == (0, 1)


def test_a_signal_that_stops_a_run_ends_the_loop_with_what_the_run_has_given_up(
    loop: Callable[..., tuple[int, int, Watch]],
) -> None:
    def hang(watch: Watch) -> int:
        signal.raise_signal(signal.SIGTERM)
        watch.has_given_up = True
        return 4

    code, num_runs, watch = loop(hang)

    assert (code, num_runs, watch.has_given_up) == (143, 1, True)


@pytest.mark.long
def test_runs_follow_each_other_until_work_hangs(loop: Callable[..., tuple[int, int, Watch]]) -> None:
    runs = iter((0, 1, 4))

    def run(watch: Watch) -> int:
        code = next(runs)
        watch.has_given_up = code == 4
        return code

    code, num_runs, watch = loop(run)

    assert (code, num_runs, watch.has_given_up) == (4, 3, True)


@pytest.mark.parametrize(("dry_run", "leads"), [(True, False), (False, True)], ids=["dry", "evicting"])
def test_loop_leads_where_its_runs_evict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dry_run: bool, leads: bool
) -> None:
    """A leader that is lost ends the loop, whatever the run says."""
    led: list[bool] = []

    @contextmanager
    def leadership(*_given: object) -> Iterator[Leader]:
        led.append(True)
        yield Leader(mock.Mock(loss="another process has taken the Lease"))

    def run(*given: Any) -> int:
        given[-1].stop.set()
        given[-1].signal_number = None if leads else signal.SIGTERM
        return 0

    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setattr(looping, "leadership", leadership)
    monkeypatch.setattr(looping, "run_policy", run)
    lazy = LazyOptions(mock.Mock(), LeaseOptions, mock.Mock())
    options = replace(flags_of(tmp_path / "policy.yaml"), dry_run=dry_run)

    code = run_loop(LoopFlags(timedelta(seconds=0.01), None), options, lazy, Watch())

    assert bool(led) is leads
    assert code == (4 if leads else 143)


@pytest.mark.parametrize(("took", "left"), [(10.0, 290.0), (300.0, 0.0), (301.0, 0.0)])
def test_next_run_begins_an_interval_after_the_last_one_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took: float, left: float
) -> None:
    now, slept = [1000.0], list[float]()

    def run(*_given: object) -> int:
        now[0] += took
        return 0

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        watch.stop.set()

    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setattr(looping, "run_policy", run)
    watch = Watch(clock=lambda: now[0], sleep=sleep)
    lazy = LazyOptions(mock.Mock(), mock.Mock(), mock.Mock())

    run_loop(LoopFlags(timedelta(minutes=5), None), flags_of(tmp_path / "policy.yaml"), lazy, watch)

    assert slept == [left]
