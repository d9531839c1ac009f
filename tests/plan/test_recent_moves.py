"""The note of recent moves: bounded, whole after a round trip, and by workload."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.plan.recent_moves import MOST_MOVES, NO_MOVES, RecentMove, RecentMoves, RecentMovesError, WorkloadId
from tests.builders import NOW

HOUR = timedelta(hours=1)


def move(name: str = "web", *, at: datetime = NOW, uid: str = "u") -> RecentMove:
    """A move of Deployment `name` from node a to node b."""
    return RecentMove(WorkloadId("Deployment", "shop", name, uid), "a", "b", at, "done")


_TEXT = st.text(max_size=8)
_MOVES = st.builds(
    RecentMove,
    st.builds(WorkloadId, _TEXT, _TEXT, _TEXT, _TEXT),
    _TEXT,
    _TEXT,
    st.integers(0, 10**6).map(lambda seconds: NOW + timedelta(seconds=seconds)),
    _TEXT,
)


@pytest.mark.long
@given(st.lists(_MOVES, max_size=5))
def test_what_was_written_is_read_again(moves: list[RecentMove]) -> None:
    assert RecentMoves.decoded(RecentMoves(moves).encoded()).moves == RecentMoves(moves).moves


def test_no_moves_are_an_empty_note() -> None:
    assert (NO_MOVES.encoded(), RecentMoves.decoded(b"").moves) == (b"", ())


@pytest.mark.parametrize(
    "note",
    [
        pytest.param(b"{", id="damaged"),
        pytest.param(b'[["a"]]', id="of another shape"),
        pytest.param(b"[" * 100_000, id="hostile"),
        pytest.param(b'[[["D","n","w","u"],"a","b","2026-06-30T12:00:00","done"]]', id="without time zone"),
    ],
)
def test_other_text_is_refused(note: bytes) -> None:
    with pytest.raises(RecentMovesError):
        RecentMoves.decoded(note)


def test_moves_older_than_the_window_are_forgotten() -> None:
    known = RecentMoves([move(at=NOW - 2 * HOUR), move("api", at=NOW - HOUR / 2), move("later", at=NOW + 2 * HOUR)])

    after = known.after(NOW, [move("new")], keep=HOUR)

    assert [each.workload.name for each in after.moves] == ["api", "new"]


def test_only_the_latest_are_kept_and_fit_beside_other_notes() -> None:
    name = "x" * 63
    moves = [
        RecentMove(WorkloadId("Deployment", name, name, "u" * 36), name, name, NOW + timedelta(seconds=s), "done")
        for s in range(MOST_MOVES + 10)
    ]

    kept = RecentMoves(moves)

    assert kept.moves == tuple(moves[10:])
    assert len(RecentMoves(kept.moves[:2_000]).encoded()) < 800_000


def test_workload_that_was_created_again_is_another() -> None:
    moves = RecentMoves([move(uid="old")])

    assert moves.of(WorkloadId("Deployment", "shop", "web", "new"), since=NOW - HOUR) == ()
    assert moves.of(WorkloadId("Deployment", "shop", "web", "old"), since=NOW - HOUR) == moves.moves
    assert moves.of(WorkloadId("Deployment", "shop", "web", "old"), since=NOW) == ()


@pytest.mark.parametrize(("seconds", "is_kept"), [(3600, True), (3601, False), (-3600, True), (-3601, False)])
def test_moves_are_kept_for_as_long_as_asked(seconds: int, is_kept: bool) -> None:
    kept = RecentMoves().after(NOW, [move(at=NOW - timedelta(seconds=seconds))], keep=HOUR)

    assert len(kept.moves) == is_kept


def test_workloads_without_uids_are_told_apart_by_their_names() -> None:
    moves = RecentMoves([move(uid=""), move("api", uid="")])

    assert moves.of(WorkloadId("Deployment", "shop", "web"), since=NOW - HOUR) == (move(uid=""),)
    assert str(WorkloadId("Deployment", "shop", "web", "u")) == "Deployment shop/web"
