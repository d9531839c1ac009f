"""From when on room is held for those that take what others leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer import Parts
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import make_problem
from descheduler.planner.moves.room_levels import held_after

FIRST, SECOND = Reassignment(0, 0, 1), Reassignment(1, 0, 1)


def held(taking: Sequence[int], capacity: int = 9) -> dict[Reassignment, Reassignment]:
    """Two pods of 4 leave node 0, of which nothing else is taken; then pending pods that need `taking` come."""
    problem = make_problem([[4], [4], *([need] for need in taking)], [[capacity], [8]], [0, 0, *(-1 for _ in taking)])
    pending = [Reassignment(number, -1, 0) for number in range(2, 2 + len(taking))]
    found = held_after(problem, [FIRST, SECOND, *pending], ["a", "b"])
    return {move: leaving for move, leaving in found.items() if move in pending}


def test_room_is_held_as_soon_as_it_is_there() -> None:
    assert list(held([6, 3]).values()) == [SECOND, FIRST]


def test_what_comes_later_does_not_take_what_an_earlier_one_needs() -> None:
    assert list(held([5, 4]).values()) == [FIRST, SECOND]


def test_room_is_held_after_the_last_that_leaves_where_there_never_seems_to_be_enough() -> None:
    assert list(held([10]).values()) == [SECOND]


def test_nothing_is_held_where_none_has_left() -> None:
    problem = make_problem([[4], [4]], [[8], [8]], [0, -1])

    assert held_after(problem, [Reassignment(1, -1, 1), Reassignment(0, 0, 1)], ["a", "b"]) == {}


def test_room_that_is_there_for_a_while_alone_is_held_when_it_stays() -> None:
    """After the first has left node 0 has 5, after another has come 1, and after the second has left 5 again."""
    problem = make_problem([[4], [4], [4], [5]], [[9], [9], [9]], [0, 0, 1, -1])
    out, into, later = Reassignment(0, 0, 2), Reassignment(2, 1, 0), Reassignment(1, 0, 2)
    waits = Reassignment(3, -1, 0)

    assert held_after(problem, [out, into, later, waits], ["a", "b", "c"])[waits] == later


def test_room_of_nodes_of_one_name_is_that_of_the_part_that_is_taken() -> None:
    """Both parts are of node a: what leaves the first does not help where the second is taken."""
    parts = Parts(np.array([[4], [4], [9]]), np.array([[0], [1], [2]]), np.array([0, 0, 1]))
    problem = make_problem([[4], [4], [4]], parts, [0, 1, -1])
    first, second, waits = Reassignment(0, 0, 2), Reassignment(1, 1, 2), Reassignment(2, -1, 1)

    assert held_after(problem, [first, second, waits], ["a", "a", "b"])[waits] == second
