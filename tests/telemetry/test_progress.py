from __future__ import annotations

import threading

import pytest

from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.search_watch import SearchState
from descheduler.telemetry.progress import EvictionProgress, SearchProgressLine
from tests.migration.stand_ins import Clock, make_eviction

EVICTED = Outcome(make_eviction("a"), OutcomeKind.EVICTED, OutcomeCode.DONE, "")
REFUSED = Outcome(make_eviction("a"), OutcomeKind.REFUSED, OutcomeCode.BUDGET, "budget")


class Seen:
    """A progress over a clock that stands still, and the lines it showed."""

    def __init__(self, num_planned: int) -> None:
        self.clock = Clock()
        self.lines: list[str] = []
        self.progress = EvictionProgress(self.lines.append, clock=self.clock.now)
        self.progress.planned(num_planned)

    def end(self, *outcomes: Outcome, each_seconds: float) -> None:
        """Evictions that end one after the other."""
        for outcome in outcomes:
            self.clock.sleep(each_seconds)
            self.progress.record(outcome)


def test_line_names_what_is_done_the_rate_and_the_time_left() -> None:
    seen = Seen(12)

    seen.end(EVICTED, EVICTED, EVICTED, REFUSED, each_seconds=0.5)

    assert seen.progress.text == "Evicted 3 of 12 pods, 2.0/s, 4 s left, 1 refused"
    assert seen.lines[-1] == seen.progress.text


def test_rate_forgets_the_burst_at_the_start() -> None:
    seen = Seen(1000)

    seen.end(*[EVICTED] * 100, each_seconds=0.001)
    seen.end(*[EVICTED] * 20, each_seconds=0.5)

    assert "2.0/s, 7 min left" in seen.progress.text


@pytest.mark.parametrize(
    ("num_ended", "expected"),
    [
        pytest.param(0, "Evicted 0 of 1 pod", id="nobody knows the rate before the first"),
        pytest.param(1, "Evicted 1 of 1 pod", id="one eviction makes no rate"),
    ],
)
def test_line_says_only_what_is_known(num_ended: int, expected: str) -> None:
    seen = Seen(1)

    seen.end(*[EVICTED] * num_ended, each_seconds=1.0)

    assert seen.progress.text == expected


def test_burst_at_the_start_makes_no_rate() -> None:
    seen = Seen(1000)

    seen.end(*[EVICTED] * 10, each_seconds=0.01)

    assert seen.progress.text == "Evicted 10 of 1000 pods"


def test_line_does_not_flicker() -> None:
    """A thousand evictions in a second change it a few times."""
    seen = Seen(1000)

    seen.end(*[EVICTED] * 1000, each_seconds=0.001)

    assert len(seen.lines) <= 12


def test_nothing_is_shown_of_a_run_that_evicts_nothing() -> None:
    assert Seen(0).lines == []


def test_line_is_taken_away_at_the_end() -> None:
    seen = Seen(1)

    seen.progress.end()

    assert seen.lines[-1] == ""


def test_the_line_of_a_search_has_its_time_and_what_ctrl_c_does() -> None:
    seconds = iter([10.0, 10.0, 32.0])
    shown: list[str] = []
    line = SearchProgressLine(
        shown.append, lambda has_plan: "Ctrl-C: use this plan" if has_plan else "", clock=lambda: next(seconds)
    )

    line.note(SearchState("searching, no plan yet"))
    line.note(SearchState("Best plan so far: 9 nodes in use → 7", has_plan=True, most_seconds=60.0))
    line.note(None)

    assert shown == [
        "searching, no plan yet; 0 s",
        "Best plan so far: 9 nodes in use → 7; 22 of 60 s. Ctrl-C: use this plan",
        "",
    ]


def test_the_line_of_a_search_is_shown_again_while_nothing_is_found() -> None:
    is_shown_again = threading.Event()
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        if len(shown) > 2:
            is_shown_again.set()

    line = SearchProgressLine(show, lambda has_plan: "", clock=lambda: 5.0, tick_seconds=0.001)
    line.note(SearchState("searching"))

    assert is_shown_again.wait(60)
    line.note(None)
    assert set(shown) == {"searching; 0 s", ""}
