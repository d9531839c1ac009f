"""What is searched again where moves are blocked: with both ends held, on top of what can be made, and in order."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import Limits, MoveLimit, Problem, make_problem
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objective import Value
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.orderable import OrderableSearch

LIMITS = Limits(work=1.0)


class Searches:
    """Takes note of what is searched, which finds nothing but where the pods are, unless told otherwise."""

    def __init__(
        self,
        problem: Problem,
        *,
        in_order: Ints | None = None,
        careful: Ints | None = None,
        own: Ordered | None = None,
    ) -> None:
        self.made: list[tuple[Problem, Ints | None]] = []
        self._in_order, self._careful = in_order, careful
        self.asked_in_order: list[list[int]] = []
        self.whole = OrderableSearch(
            problem, lambda left: left, self._search, self._found_in_order, self._value, lambda left, assignment: own
        )

    def _found_in_order(self, reached: Ints) -> Ints | None:
        self.asked_in_order.append(reached.tolist())
        return self._in_order

    def _search(self, problem: Problem, limits: Limits, hint: Ints | None) -> list[Ints]:
        self.made.append((problem, hint))
        return [problem.assignment if self._careful is None or hint is None else self._careful]

    @staticmethod
    def _value(assignment: Ints) -> Value:
        """The more pods are on the last node, the better."""
        return (-int((assignment == 3).sum()),)


def circle(*, both_ends: bool = False) -> Problem:
    """Pods 0 and 1 cannot change places, and pod 2 goes to node 3."""
    return make_problem(
        [[3], [3], [3], [3]],
        [[4], [4], [4], [9]],
        [0, 1, 2, 3],
        rules=[MoveLimit(np.zeros(4, np.int64), np.array([4]))],
        both_ends=[both_ends],
    )


CHANGED = np.array([1, 0, 3, 3])


def test_nothing_is_searched_again_where_all_moves_can_be_made() -> None:
    searches = Searches(circle())

    ordered = searches.whole.best([np.array([0, 1, 3, 3])], LIMITS)

    assert (ordered.assignment.tolist(), searches.made) == ([0, 1, 3, 3], [])


def test_of_equal_assignments_the_first_is_taken_to_which_an_order_leads() -> None:
    searches = Searches(circle())

    ordered = searches.whole.best([CHANGED, np.array([3, 1, 2, 3]), np.array([0, 3, 2, 3])], LIMITS)

    assert (ordered.assignment.tolist(), searches.made) == ([3, 1, 2, 3], [])


@pytest.mark.parametrize(
    ("own", "reached"),
    [
        pytest.param([1, 3, 2, 3], [1, 3, 2, 3], id="the objective's own, which is as good"),
        pytest.param([1, 0, 2, 3], [0, 1, 3, 3], id="another one, which is better"),
    ],
)
def test_the_order_of_an_objective_is_taken_where_none_is_better(own: list[int], reached: list[int]) -> None:
    searches = Searches(circle(), own=Ordered((), (), np.array(own)))

    ordered = searches.whole.best([np.array([0, 1, 3, 3])], LIMITS)

    assert ordered.assignment.tolist() == reached


def test_one_search_holds_all_at_both_ends_and_another_goes_on_from_what_was_made() -> None:
    searches = Searches(circle())

    ordered = searches.whole.best([CHANGED], LIMITS)

    (careful, hint), (after, no_hint) = searches.made
    assert ordered.assignment.tolist() == [0, 1, 3, 3]
    assert careful.both_ends.all()
    assert hint is not None
    assert (hint.tolist(), no_hint) == ([0, 1, 3, 3], None)
    assert (after.assignment.tolist(), after.evictable.tolist()) == ([0, 1, 3, 3], [True, True, False, True])
    assert after.move_limits[0].limit.tolist() == [3]


def test_what_is_held_at_both_ends_is_not_given_back_by_moves_that_were_made() -> None:
    searches = Searches(circle(both_ends=True))

    searches.whole.best([CHANGED], LIMITS)

    assert len(searches.made) == 1


def test_the_best_of_all_plans_is_taken() -> None:
    """Node 3 has room for pods 0 and 2, or for 1 and 2."""
    better = np.array([3, 1, 3, 3])

    found = Searches(circle(), careful=better).whole.best([CHANGED], LIMITS)
    other = Searches(circle(), in_order=better).whole.best([CHANGED], LIMITS)
    kept = Searches(circle(), in_order=np.array([0, 1, 2, 3])).whole.best([CHANGED], LIMITS)

    assert found.assignment.tolist() == other.assignment.tolist() == better.tolist()
    assert kept.assignment.tolist() == [0, 1, 3, 3]


def test_a_small_problem_is_searched_in_order_from_the_best_that_can_be_made() -> None:
    careful = np.array([3, 1, 3, 3])
    searches = Searches(circle(), careful=careful, in_order=np.array([0, 1, 2, 3]))

    searches.whole.best([CHANGED], LIMITS)

    assert searches.asked_in_order == [careful.tolist()]
