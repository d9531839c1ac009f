"""What limits on moves leave once some pods have been moved."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import MoveLimit, make_problem
from descheduler.optimizer.moves_left import MovesLeft


def left(*moved: int) -> MovesLeft:
    """Two pods of 0 to 2 may be moved, and one of 2 and 3, of which those `moved` have been."""
    rules = [MoveLimit(np.array([0, 0, 0, -1]), np.array([2])), MoveLimit(np.array([-1, -1, 0, 0]), np.array([1]))]
    return MovesLeft(make_problem([[1]] * 4, [[9]], [0] * 4, rules=rules), np.array(moved, dtype=np.int64))


def test_as_many_are_taken_as_every_limit_leaves() -> None:
    assert left().take(np.array([0, 1, 3]))
    assert not left().take(np.array([0, 1, 2]))
    assert not left().take(np.array([2, 3]))


def test_what_is_taken_or_was_moved_before_is_left_no_more() -> None:
    some = left(0)

    assert some.take(np.array([2]))
    assert not some.take(np.array([1]))
    assert not some.take(np.array([3]))


def test_what_is_refused_takes_nothing() -> None:
    some = left()

    assert not some.take(np.array([0, 2, 3]))
    assert some.take(np.array([0, 2]))


def test_a_limit_that_is_overdrawn_keeps_no_other_pods() -> None:
    """Both pods of the second limit have been moved."""
    some = left(2, 3)

    assert some.take(np.array([0]))
    assert not some.take(np.array([1]))
