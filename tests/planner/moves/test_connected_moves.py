"""Which moves of a plan depend on each other."""

from __future__ import annotations

from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from descheduler.planner.moves.connected_moves import connected_moves


def groups(*moves: tuple[int, int, int]) -> list[list[int]]:
    """The pods of each group, where each move serves others."""
    found = connected_moves([Reassignment(*move) for move in moves], serves_others=lambda move: True)
    return [[move.pod for move in group] for group in found]


def test_a_pod_that_is_placed_where_others_have_left_belongs_to_them() -> None:
    assert groups((1, 10, 20), (2, 11, 20), (3, PENDING, 10)) == [[1, 3], [2]]


def test_a_chain_of_moves_is_one_group() -> None:
    assert groups((1, 11, 12), (2, 10, 11), (3, PENDING, 10)) == [[1, 2, 3]]


def test_moves_onto_a_node_that_no_pod_leaves_are_independent() -> None:
    assert groups((1, 10, 20), (2, 11, 20)) == [[1], [2]]


def test_moves_that_are_of_use_by_themselves_tie_no_others() -> None:
    """Pods 0 to 2 have to leave node 10, and pod 3 makes room for the first of them alone."""
    moves = [Reassignment(3, 20, 30), Reassignment(0, 10, 20), Reassignment(1, 10, 21), Reassignment(4, 40, 10)]

    found = connected_moves(moves, serves_others=lambda move: move.pod == 3)

    assert [[move.pod for move in group] for group in found] == [[3, 0], [1], [4]]
