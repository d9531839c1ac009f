"""Which pods of a run can leave at once, and in which waves all of them can."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.eviction.placement_verification.in_any_order import largest_part, later_waves
from descheduler.model.pod import Pod
from descheduler.plan.moves import Move
from tests.eviction.placement_verification.test_landing_book import SETTINGS, book_of, sized

SIZES = {"large": "3", "one": "1", "two": "1"}
ROOMS = ("1", "1", "3")


def moves_of(pods: list[Pod], together: tuple[str, ...]) -> list[Move]:
    """The moves of `pods`, those of `together` in one bundle."""
    return [Move(pod, "p", "q", bundle=7 if pod.name in together else 0) for pod in pods]


@pytest.mark.parametrize(
    ("together", "evicted", "staying"),
    [
        pytest.param((), (), {"large"}, id="either small one may take the node of the large one"),
        pytest.param((), ("large",), {"one", "two"}, id="which has left already"),
        pytest.param((), ("one",), {"large"}, id="a small one has left already"),
        pytest.param(("large", "one"), (), {"large", "one"}, id="one of them leaves with it or not at all"),
        pytest.param(("one", "two"), (), {"large"}, id="both leave together or not at all"),
        pytest.param(("one", "two"), ("one",), {"large"}, id="of whom one has left already"),
    ],
)
def test_as_few_stay_as_keep_the_others_from_being_scheduled(
    together: tuple[str, ...], evicted: tuple[str, ...], staying: set[str]
) -> None:
    pods = sized(**SIZES)
    book = book_of(pods, *ROOMS)
    for pod in pods:
        book.book(pod, SETTINGS)

    found = largest_part(book, moves_of(pods, together), [pod for pod in pods if pod.name in evicted])

    assert {pod.name for pod in found} == staying


@pytest.mark.parametrize(
    ("turns", "staying"),
    [
        pytest.param({"large": 1, "one": 1, "two": 1}, {"large"}, id="the most of one turn"),
        pytest.param({"large": 1, "one": 2, "two": 2}, {"one", "two"}, id="the first turn before more of the next"),
        pytest.param(
            {"large": 2, "one": 2, "two": 1}, {"large"}, id="nothing of a turn that stands in the way of one before"
        ),
    ],
)
def test_those_of_an_earlier_turn_leave_first(turns: dict[str, int], staying: set[str]) -> None:
    pods = sized(**SIZES)
    book = book_of(pods, *ROOMS)
    for pod in pods:
        book.book(pod, SETTINGS)

    found = largest_part(book, [Move(pod, "p", "q", turn=turns[pod.name]) for pod in pods], ())

    assert {pod.name for pod in found} == staying


def test_no_part_is_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    pods = sized(**{f"large{number}": "3" for number in range(3)}, **{f"small{number}": "1" for number in range(6)})
    book = book_of(pods, *(["1"] * 6 + ["3"] * 3))
    for pod in pods:
        book.book(pod, SETTINGS)
    is_proven, parts = book.is_proven, list[frozenset[Pod]]()

    def noted(part: Sequence[Pod], asked: Sequence[Pod]) -> bool:
        parts.append(frozenset(part))
        return is_proven(part, asked)

    monkeypatch.setattr(book, "is_proven", noted)

    staying = largest_part(book, moves_of(pods, ()), ())

    assert {pod.name for pod in staying} == {"large0", "large1", "large2"}
    assert len(parts) == len(set(parts)) > 1


def test_pods_of_profiles_that_verify_nothing_do_not_stay() -> None:
    pods = sized(**SIZES)
    book = book_of(pods, *ROOMS)
    for pod in pods:
        book.book(pod, None if pod.name == "one" else SETTINGS)

    assert {pod.name for pod in largest_part(book, moves_of(pods, ()), ())} == {"large"}


@pytest.mark.parametrize(
    ("together", "waves"),
    [
        pytest.param((), [1, 2, 2], id="each by itself"),
        pytest.param(("one", "two"), [1, 2, 2], id="the small ones together"),
        pytest.param(("large", "one"), [1, 1, 2], id="pods that leave together are never apart"),
        pytest.param(("large", "one", "two"), [1, 1, 1], id="all together"),
    ],
)
def test_waves_follow_one_another_where_their_order_counts(together: tuple[str, ...], waves: list[int]) -> None:
    pods = sized(**SIZES)
    book = book_of(pods, *ROOMS)
    for pod in pods:
        book.book(pod, SETTINGS)

    assert list(later_waves(book, moves_of(pods, together)).values()) == waves


def test_waves_of_a_plan_are_never_joined() -> None:
    pods = sized(one="1", two="1", three="1")
    book = book_of(pods, "4")
    for pod in pods:
        book.book(pod, SETTINGS)
    moves = [Move(pod, "p", "q", wave=wave) for pod, wave in zip(pods, (1, 1, 2), strict=True)]

    assert list(later_waves(book, moves).values()) == [1, 1, 2]
