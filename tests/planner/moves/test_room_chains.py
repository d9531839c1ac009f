"""Chains of moves by the room that each takes of others."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.planner.moves.room_chains import room_chains

LIGHT, HEAVY, WAITING, OTHER, SECOND = (
    Reassignment(0, 1, 2),
    Reassignment(1, 0, 1),
    Reassignment(2, -1, 0),
    Reassignment(3, 3, 2),
    Reassignment(4, -1, 3),
)


def _problem() -> Problem:
    """Pods of 3, 6, 10, 2 and 9; the nodes 0 to 3 are left with 4, 3, 7 and 7."""
    return make_problem([[3], [6], [10], [2], [9]], [[10], [6], [7], [9]], [1, 0, -1, 3, -1])


def _chains(moves: Sequence[Reassignment], gangs: Sequence[int] = ()) -> list[list[Reassignment]]:
    return room_chains(_problem(), moves, lambda pod: "gang" if pod in gangs else None)


def test_moves_that_make_room_for_one_another_are_together() -> None:
    """Node 2 has room for both pods that go there, so that these have nothing to do with each other."""
    assert _chains([LIGHT, OTHER, HEAVY, WAITING, SECOND]) == [[LIGHT, HEAVY, WAITING], [OTHER, SECOND]]


def test_gangs_are_together() -> None:
    assert _chains([LIGHT, OTHER, HEAVY, WAITING, SECOND], gangs=[2, 4]) == [[LIGHT, OTHER, HEAVY, WAITING, SECOND]]


def test_moves_that_make_room_for_none_are_left_out() -> None:
    assert _chains([LIGHT, HEAVY, WAITING, OTHER]) == [[LIGHT, HEAVY, WAITING]]


def test_a_pod_that_shares_room_with_another_is_with_it() -> None:
    """Both pending pods take what one pod leaves."""
    problem = make_problem([[6], [3], [3]], [[6], [6]], [0, -1, -1])
    moves = [Reassignment(0, 0, 1), Reassignment(1, -1, 0), Reassignment(2, -1, 0)]

    assert room_chains(problem, moves, lambda pod: None) == [moves]


def test_a_pod_that_fits_the_free_room_is_in_no_chain_with_those_that_leave_its_node() -> None:
    problem = make_problem([[3], [5]], [[10], [6]], [0, -1])
    leaves, comes = Reassignment(0, 0, 1), Reassignment(1, -1, 0)

    assert room_chains(problem, [leaves, comes], lambda pod: None) == [[comes]]
