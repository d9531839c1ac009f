"""The choices that a program of whole numbers keeps from one bound to the next."""

from __future__ import annotations

import pytest

from descheduler.optimizer.cp_sat.integer_program import IntegerProgram


def test_choices_are_kept_that_are_as_good_for_the_next_bound() -> None:
    program = IntegerProgram(work=1.0)
    few, many = program.choose(5), program.choose(5)
    program.limit({few: -1, many: -1}, -4)

    assert program.most_gained({few: -1}) == 0
    assert program.taken[few] == 0
    kept = program.taken

    assert program.most_gained({few: -1, many: 0}) == 0
    assert program.taken == kept


def test_choices_are_given_up_that_a_later_limit_forbids() -> None:
    program = IntegerProgram(work=1.0)
    number = program.choose(5)
    assert (program.most_gained({number: 1}), program.taken) == (5, (5,))

    program.limit({number: 1}, 3)

    assert (program.most_gained({number: 1}), program.taken) == (3, (3,))


def test_choices_that_a_later_limit_just_allows_are_kept_where_others_gain_as_much() -> None:
    program = IntegerProgram(work=1.0)
    number = program.choose(5)
    assert program.most_gained({number: 1}) == 5

    program.limit({number: 1}, 5)

    assert (program.most_gained({number: 0}), program.taken) == (0, (5,))


@pytest.mark.parametrize(("most", "gained"), [(0, 5), (-1, None)])
def test_a_limit_of_what_no_choice_takes_leaves_all_or_nothing(most: int, gained: int | None) -> None:
    program = IntegerProgram(work=1.0)
    number = program.choose(5)

    program.limit({number: 0}, most)

    assert program.most_gained({number: 1}) == gained


@pytest.mark.parametrize("restarts", [False, True])
def test_bounds_are_the_same_whatever_the_solver_begins_with(restarts: bool) -> None:
    program = IntegerProgram(work=1.0, restarts=restarts)
    few, many = program.choose(5), program.choose(5)
    program.limit({few: 1, many: 2}, 9)
    assert program.most_gained({few: 1, many: 1}, begins_with_taken=True) == 7

    program.limit({few: 1}, 3)

    assert program.most_gained({few: 1, many: 1}, begins_with_taken=True) == 6
    assert program.taken == (3, 3)
