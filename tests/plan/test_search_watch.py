"""What is told of searches that are a part of some work."""

from __future__ import annotations

from descheduler.plan.search_watch import SearchState, SearchWatch


def test_states_of_a_search_within_some_work_name_the_work() -> None:
    noted: list[SearchState | None] = []

    watch = SearchWatch(note=noted.append, share=0.5).within("round 2")
    watch.note(SearchState("3 plans", has_plan=True))
    watch.note(None)

    assert noted == [SearchState("round 2"), SearchState("round 2: 3 plans", has_plan=True), SearchState("round 2")]
    assert watch.share == 0.5
