"""In which order pods go."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.pod import Pod
from descheduler.strategies.shared.pods import sort_low_to_high, sort_oldest_first
from tests.builders import make_pod

SURE = {"cpu": "1", "memory": "1"}
PREFER_NO = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}


def test_least_important_pods_come_first() -> None:
    expected = [
        make_pod("no priority"),
        make_pod("negative", priority=-1),
        make_pod("best effort", priority=0),
        make_pod("best effort that would rather stay", priority=0, annotations=PREFER_NO),
        make_pod("burstable", priority=0, cpu="1"),
        make_pod("guaranteed", priority=0, requests=SURE, limits=SURE),
        make_pod("high", priority=1),
    ]

    assert sort_low_to_high(reversed(expected)) == expected


@given(st.lists(st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, 0, 60])), max_size=8))
def test_ties_keep_the_given_order(facts: list[tuple[int | None, float | None]]) -> None:
    pods = [make_pod(f"p{n}", priority=priority, age=age) for n, (priority, age) in enumerate(facts)]

    by_priority, by_age = sort_low_to_high(pods), sort_oldest_first(pods)

    orders: list[tuple[list[Pod], Callable[[Pod], object]]] = [
        (by_priority, lambda pod: pod.priority),
        (by_age, lambda pod: pod.created_at),
    ]
    for ordered, key in orders:
        for value in {key(pod) for pod in pods}:
            assert [p for p in ordered if key(p) == value] == [p for p in pods if key(p) == value]


def test_oldest_pods_come_first_and_the_zero_time_before_all() -> None:
    pods = [make_pod("young", age=1), make_pod("old", age=60), make_pod("timeless", age=None)]

    assert [pod.name for pod in sort_oldest_first(pods)] == ["timeless", "old", "young"]
