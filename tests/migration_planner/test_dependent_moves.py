"""Which moves are of use only together."""

from __future__ import annotations

from descheduler.migration_planner.objectives.dependent_moves import dependent_moves
from descheduler.planner import Move


def groups(moves: list[Move], makers: set[int]) -> list[list[int]]:
    return [[move.pod for move in group] for group in dependent_moves(moves, makers)]


def test_moves_that_serve_no_other_are_alone() -> None:
    assert groups([Move(0, 0, 1), Move(1, 0, 1)], set()) == [[0], [1]]


def test_a_move_that_makes_room_is_with_those_that_take_it() -> None:
    moves = [Move(9, 1, 2), Move(3, 4, 5), Move(0, 0, 1), Move(1, 0, 1)]

    assert groups(moves, {9}) == [[3], [9, 0, 1]]


def test_chains_of_moves_are_one_group() -> None:
    """Pod 8 makes room for pod 9, which makes room for pod 0."""
    assert groups([Move(8, 2, 3), Move(9, 1, 2), Move(0, 0, 1)], {8, 9}) == [[8, 9, 0]]
