"""What a person at a terminal sees while `explain` and `simulate` work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from descheduler.plan.search_watch import SearchState, SearchWatch
from descheduler.telemetry.console import ERASE_LINE
from tests.cli.commands import Descheduler
from tests.telemetry.test_console import Terminal

NOW = "2026-06-30T12:00:00Z"


@pytest.fixture
def lines_shown(descheduler: Descheduler, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Runs the command line with a terminal as standard error; what its last line shows in turn, without seconds."""

    def run(*arguments: str | Path) -> list[str]:
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        assert descheduler(*arguments).code == 0
        lines = [re.sub(r"; \d+ s$", "", line) for line in terminal.getvalue().split(ERASE_LINE)]
        return list(dict.fromkeys(filter(None, lines)))

    return run


def test_explain_says_what_it_explains(lines_shown: Callable[..., list[str]], policy: Path, dump: Path) -> None:
    shown = lines_shown("explain", "pod", "default/old", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert shown == ["Explaining pod default/old"]


def test_simulate_counts_its_cycles(
    lines_shown: Callable[..., list[str]], policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(policy.parent)

    shown = lines_shown("simulate", policy.name, "--snapshot", dump, "--now", NOW, "--cycles", "3")

    assert shown[:2] == [f"Simulating {policy.name}: {done} of at most 3 cycles done" for done in range(2)]


def test_search_is_shown_behind_the_work_that_it_is_a_part_of() -> None:
    noted: list[SearchState | None] = []
    search = SearchWatch(noted.append).within("Explaining node a")

    search.note(SearchState("9 nodes in use", has_plan=True, most_seconds=60))
    search.note(None)

    assert noted == [
        SearchState("Explaining node a"),
        SearchState("Explaining node a: 9 nodes in use", has_plan=True),
        SearchState("Explaining node a"),
    ]
