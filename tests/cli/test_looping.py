"""How a loop goes on, or ends, after a run; the runs themselves are stand-ins."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from descheduler.cli import looping
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.looping import LoopFlags, run_loop
from descheduler.cli.output import Output
from descheduler.cli.running import RunFlags
from descheduler.eviction.checks.scope import Scope
from descheduler.supervision import Watch

POLICY = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n"


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
        code = run_loop(LoopFlags(timedelta(seconds=0.01), None), flags(), lazy, watch)
        return code, len(watches), watch

    def flags() -> RunFlags:
        return RunFlags(
            policy_file=str(tmp_path / "policy.yaml"),
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
