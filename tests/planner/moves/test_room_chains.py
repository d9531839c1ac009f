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


def test_what_is_left_of_a_pod_goes_to_the_next_one_that_comes() -> None:
    """The first pending pod takes 4 of the 6 that leave, and the second the rest and what the other pod leaves."""
    problem = make_problem([[6], [3], [4], [5]], [[9], [9]], [0, 0, -1, -1])
    large, small = Reassignment(0, 0, 1), Reassignment(1, 0, 1)
    first, second = Reassignment(2, -1, 0), Reassignment(3, -1, 0)

    assert room_chains(problem, [large, small, first, second], lambda pod: None) == [[large, first], [small, second]]


def test_a_pod_takes_free_room_before_that_of_others() -> None:
    """Node 0 has 2 free: the first pending pod takes these, and the second what has left."""
    problem = make_problem([[4], [2], [4]], [[6], [9]], [0, -1, -1])
    leaves, fits, waits = Reassignment(0, 0, 1), Reassignment(1, -1, 0), Reassignment(2, -1, 0)

    assert room_chains(problem, [leaves, fits, waits], lambda pod: None) == [[fits], [leaves, waits]]


def test_room_is_made_resource_by_resource() -> None:
    """Pod 0 leaves the first resource, and pod 1 the second; the pending pod lacks the second alone."""
    problem = make_problem([[4, 0], [0, 4], [3, 4]], [[8, 5], [9, 9]], [0, 0, -1])
    first, second, waits = Reassignment(0, 0, 1), Reassignment(1, 0, 1), Reassignment(2, -1, 0)

    assert room_chains(problem, [first, second, waits], lambda pod: None) == [[second, waits]]
