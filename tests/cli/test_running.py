"""What a person at a terminal sees of a planner that searches, and how that is ended."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from descheduler.cli.running import name_cluster, show_progress, watched_search
from descheduler.plan.search_watch import SearchState
from descheduler.supervision import Watch
from descheduler.telemetry.console import ERASE_LINE
from descheduler.telemetry.logging import configure_logging
from descheduler.telemetry.observer import RunObserver
from tests.cli.commands import Descheduler
from tests.telemetry.test_console import Terminal


def test_ctrl_c_may_end_the_search_of_a_dry_run_while_it_lasts() -> None:
    watch = Watch()
    search = watched_search(watch, is_dry=True)

    assert not watch.may_end_search
    search.note(SearchState("3 nodes over target → 1 with 12 evictions", has_plan=True))
    assert watch.may_end_search
    watch.is_search_over = True
    assert search.is_cancelled()
    search.note(None)
    assert not watch.may_end_search


def test_ctrl_c_stops_a_run_that_evicts_whatever_it_does() -> None:
    watch = Watch()

    watched_search(watch, is_dry=False).note(SearchState("searching"))

    assert not watch.may_end_search


def test_a_search_leaves_time_before_the_deadline() -> None:
    seconds = iter([0.0, 10.0, 10.0])
    watch = Watch(deadline_seconds=60, clock=lambda: next(seconds))

    found = watched_search(watch, is_dry=True).most_seconds()

    assert found is not None
    assert 25 <= found <= 35


def test_a_run_without_a_deadline_searches_for_as_long_as_its_policy_says() -> None:
    assert watched_search(Watch(), is_dry=True).most_seconds() is None


class Shown:
    """A run's terminal, and what it shows."""

    def __init__(self, verbosity: int | None) -> None:
        self.terminal = Terminal()
        configure_logging(self.terminal, verbosity=verbosity, log_format="text")

    @property
    def text(self) -> str:
        return self.terminal.getvalue()


@pytest.mark.parametrize(
    ("context", "verbosity", "is_quiet", "line"),
    [
        pytest.param("prod", None, False, 'Cluster: context "prod" at https://api\n', id="on a terminal"),
        pytest.param("", None, False, "Cluster: in-cluster at https://api\n", id="in a cluster"),
        pytest.param("prod", None, True, "", id="quiet"),
    ],
)
def test_terminal_that_shows_no_log_is_told_the_cluster(
    context: str, verbosity: int | None, is_quiet: bool, line: str
) -> None:
    shown = Shown(verbosity)

    name_cluster(context, "https://api", is_quiet=is_quiet)

    assert shown.text.replace(ERASE_LINE, "") == line


def test_terminal_that_shows_the_log_is_told_the_cluster_there_alone() -> None:
    shown = Shown(0)

    name_cluster("prod", "https://api")

    assert 'context="prod" server="https://api"' in shown.text
    assert "Cluster: context" not in shown.text


@pytest.mark.parametrize(("is_quiet", "is_shown"), [(False, True), (True, False)])
def test_progress_of_evictions_is_shown_unless_it_is_quiet(is_quiet: bool, is_shown: bool) -> None:
    Shown(None)
    observer = RunObserver()

    show_progress(observer, is_quiet=is_quiet)

    assert (observer.progress is not None) is is_shown


def test_progress_is_not_shown_where_the_log_goes_elsewhere() -> None:
    observer = RunObserver()

    show_progress(observer)

    assert observer.progress is None


def test_search_that_was_ended_is_told_with_its_best_plan() -> None:
    shown = Shown(None)
    watch = Watch()
    search = watched_search(watch, is_dry=True)
    search.note(SearchState("3 nodes over target → 1 with 12 evictions", has_plan=True))
    assert watch.ends_search(signal.SIGINT)

    search.note(None)

    assert "Search ended by Ctrl-C. 3 nodes over target → 1 with 12 evictions" in shown.text


@pytest.mark.parametrize(
    ("is_dry", "has_plan", "hint"),
    [(True, True, "Ctrl-C: use this plan"), (True, False, "Ctrl-C: stop"), (False, True, "")],
)
def test_line_of_a_search_says_what_ctrl_c_does(is_dry: bool, has_plan: bool, hint: str) -> None:
    shown = Shown(None)

    search = watched_search(Watch(), is_dry=is_dry)
    search.note(SearchState("9 nodes in use", has_plan=has_plan))
    search.note(None)

    assert "9 nodes in use" in shown.text
    assert ("Ctrl-C" in shown.text) is bool(hint)
    assert hint in shown.text


def test_search_that_ended_by_itself_is_not_told() -> None:
    shown = Shown(None)
    search = watched_search(Watch(), is_dry=True)

    search.note(SearchState("9 nodes in use", has_plan=True))
    search.note(None)

    assert "Search ended" not in shown.text


def test_search_has_no_time_after_the_deadline() -> None:
    watch = Watch(deadline_seconds=60, clock=lambda: 0.0)
    late = Watch(deadline_seconds=60, started=-90.0, clock=lambda: 0.0)

    assert watched_search(watch, is_dry=True).most_seconds() == 36.0
    assert watched_search(late, is_dry=True).most_seconds() == 0.0
    assert watched_search(late, is_dry=True).is_cancelled()


NOW = "2026-06-30T12:00:00Z"


@pytest.mark.parametrize(
    ("flags", "is_certain"),
    [
        pytest.param((), True, id="as many as are usual"),
        pytest.param(("--assess-landings", "1"), True, id="the first"),
        pytest.param(("--assess-landings", "0"), False, id="none"),
    ],
)
def test_landings_of_a_dump_are_predicted_as_the_flag_says(
    descheduler: Descheduler, policy: Path, dump: Path, flags: tuple[str, ...], is_certain: bool
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--now", NOW, "-o", "json", *flags)

    landings = json.loads(ended.out)["landings"]
    assert (landings["assessed"], landings["lands"]) == ((1, 1) if is_certain else (0, 0))


def test_plan_file_that_cannot_be_written_is_a_failure(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    out = tmp_path / "none" / "plan.json"

    ended = descheduler("plan", policy, "--snapshot", dump, "--now", NOW, "--out", out)

    assert ended.code == 1
    assert f"error: {out}: cannot be written: no such file or directory" in ended.err


def test_plan_file_that_cannot_be_written_is_told_before_the_cluster_is_read(
    descheduler: Descheduler, policy: Path, tmp_path: Path
) -> None:
    """A search of minutes would be lost."""
    ended = descheduler("plan", policy, "--snapshot", tmp_path / "no-dump", "--now", NOW, "--out", tmp_path)

    assert (ended.code, ended.err.splitlines()[-1]) == (1, f"error: {tmp_path}: cannot be written: is a directory")


def test_plan_file_is_readable_by_its_owner_alone(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    out = tmp_path / "plan.json"

    descheduler("plan", policy, "--snapshot", dump, "--now", NOW, "--out", out)

    assert out.stat().st_mode & 0o777 == 0o600
