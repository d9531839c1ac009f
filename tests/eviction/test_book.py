"""What the book of a run holds after grants and refusals, and after these were taken back."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.book import Book
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.plan.decisions import BACKGROUND, SUCCESS
from descheduler.plan.moves import Move
from tests.builders import make_pod

WEB, DB = make_pod("web"), make_pod("db")
DONE = make_pod("done", phase="Succeeded")
NO_ROOM, BARE = refuse(Reason.NO_LANDING, "no room"), refuse(Reason.BARE_POD, "has no owner")


def move(pod: Pod, wave: int = 1, **facts: Any) -> Move:
    return Move(pod, "p", "q", wave=wave, **facts)


def contents(book: Book) -> tuple[object, ...]:
    """All that the book says."""
    pods = (WEB, DB, DONE)
    granted = book.num_granted("p", "q"), book.last_wave, [book.has(pod) for pod in pods]
    return list(book.moves), list(book.background), dict(book.results), book.refusals, *granted


def refused(book: Book) -> list[tuple[str, Verdict, bool, str]]:
    """The refusals that it names."""
    return [(each.pod.name, each.verdict, each.is_attempt, each.reason) for each in book.refusals]


def test_empty_book_says_nothing() -> None:
    assert contents(Book()) == ([], [], {}, (), 0, 0, [False] * 3)


def test_grants_are_counted_for_their_plugin() -> None:
    book = Book()

    book.enter(move(WEB))
    book.enter(move(DB, wave=3))

    assert (book.num_granted("p", "q"), book.num_granted("p", "other"), book.num_granted("other", "q")) == (2, 0, 0)
    assert (book.last_wave, book.has(WEB), book.has(DB), book.has(DONE)) == (3, True, True, False)
    assert book.results == {("p", "q", SUCCESS): 2}


def test_what_another_controller_carries_out_is_no_grant_and_nothing_of_a_finished_pod() -> None:
    book = Book()

    book.hand_over(move(WEB))
    book.hand_over(move(DONE))

    assert book.results == {("p", "q", BACKGROUND): 1}
    assert [each.pod for each in book.background] == [WEB, DONE]
    assert (book.moves, book.has(WEB), book.num_granted("p", "q")) == ([], False, 0)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda book: book.enter(move(DB)), id="a grant"),
        pytest.param(lambda book: book.enter(move(WEB)), id="a second grant of a pod"),
        pytest.param(lambda book: book.hand_over(move(DB)), id="a pod that another controller evicts"),
        pytest.param(lambda book: book.hand_over(move(DONE)), id="a finished pod"),
        pytest.param(lambda book: book.refuse(DB, "p", "q", BARE), id="a refusal"),
    ],
)
def test_entry_that_is_taken_back_was_never_there(change: Any) -> None:
    book = Book()
    book.enter(move(WEB))
    book.refuse(WEB, "p", "q", NO_ROOM)
    before = contents(book)

    change(book)()

    assert contents(book) == before


def test_refused_requests_come_first_then_candidates_that_stay() -> None:
    book = Book()

    book.keep(WEB, "p", "q", BARE, "is old")
    book.keep(WEB, "p", "other", NO_ROOM, "is new")
    book.refuse(DB, "p", "q", NO_ROOM, "is old")

    assert refused(book) == [("db", NO_ROOM, True, "is old"), ("web", BARE, False, "is old")]
    assert book.results == {
        ("p", "q", "BarePod"): 1,
        ("p", "other", "NoLanding"): 1,
        ("p", "q", "NoLanding"): 1,
    }


def test_candidate_that_is_evicted_after_all_does_not_stay() -> None:
    book = Book()
    book.keep(WEB, "p", "q", BARE)

    book.enter(move(WEB))

    assert refused(book) == []


def test_pods_of_one_name_are_told_apart() -> None:
    book = Book()
    for pod in (make_pod("web", uid="1"), make_pod("web", uid="2"), make_pod("web", namespace="shop", uid="1")):
        book.keep(pod, "p", "q", BARE)

    assert len(book.refusals) == 3


@pytest.mark.parametrize(
    ("pods", "reasons", "left"),
    [
        pytest.param([WEB], {Reason.NO_LANDING}, ["web", "db"], id="one pod for one reason"),
        pytest.param([WEB], {Reason.NO_LANDING, Reason.BARE_POD}, ["db"], id="one pod for each reason"),
        pytest.param([WEB, DB], {Reason.NO_LANDING}, ["web"], id="both pods"),
        pytest.param([DONE], {Reason.NO_LANDING}, ["web", "web", "db"], id="another pod"),
        pytest.param([WEB], {Reason.LOCAL_STORAGE}, ["web", "web", "db"], id="another reason"),
    ],
)
def test_refusal_of_what_was_granted_after_all_is_withdrawn(
    pods: list[Pod], reasons: set[Reason | None], left: list[str]
) -> None:
    book = Book()
    for pod, verdict in ((WEB, NO_ROOM), (WEB, BARE), (DB, NO_ROOM)):
        book.refuse(pod, "p", "q", verdict)

    book.withdraw(pods, reasons)

    assert [each.pod.name for each in book.refusals] == left
    assert sum(book.results.values()) == len(left)


def test_notes_are_restored_as_they_were() -> None:
    book = Book()
    book.refuse(WEB, "p", "q", NO_ROOM)
    book.keep(DB, "p", "q", BARE)
    before, notes = contents(book), book.notes()

    book.refuse(DB, "p", "q", BARE)
    book.keep(DONE, "p", "q", BARE)
    book.restore(notes)

    assert contents(book) == before
