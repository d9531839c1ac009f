"""What a person at a terminal sees of a planner that searches, and how that is ended."""

from __future__ import annotations

from descheduler.cli.running import watched_search
from descheduler.plan.search_watch import SearchState
from descheduler.supervision import Watch


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
