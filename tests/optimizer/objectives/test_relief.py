"""What the model of the bound says of large pods that take the place of others, beside all assignments.

A pod of 6 is large: it leaves node 1, which has 9 and may have 7, for node 0 alone, where one of 5 has to leave for it.
That one goes to node 2, which has room for more and is closed to the pod of 6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import AtMost, BalanceUtilization, MaxSkew, MoveLimit, Problem, make_problem
from descheduler.optimizer.objective import Value
from descheduler.optimizer.rules import Rule
from tests.optimizer.objectives.assignments import best_balance

_CEILING = np.array([[7], [7], [20], [7]])


def swap(rules: Sequence[Rule] = (), *, more: Sequence[int] = ()) -> Problem:
    """Pods 0 and 1 are those of 6 and of 5. Pods 2 (node 1), 3 (node 0), 4 (node 2) and 5 (node 3) are pinned.

    Pods of 0 are on the nodes `more`, and may leave these for node 2.
    """
    return make_problem(
        [[6], [5], [3], [1], [1], [7]] + [[0]] * len(more),
        [[10], [10], [20], [10]],
        [1, 0, 1, 0, 2, 3, *more],
        pod_class=[0] + [1] * (5 + len(more)),
        allowed=[[True, True, False, True], [False, False, True, False]],
        evictable=[True, True, False, False, False, False] + [True] * len(more),
        rules=rules,
    )


def members(*pods: int, num_pods: int = 6) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Pods of group 0."""
    return np.where(np.isin(np.arange(num_pods), pods), 0, -1)


def spread(*pods: int, domain: Sequence[int] = (0, 1, 1, 0), num_pods: int = 6, there: bool = True) -> MaxSkew:
    """A skew of 1 at most over two zones: nodes 0 and 3, nodes 1 and 2."""
    return MaxSkew(members(*pods, num_pods=num_pods), np.array(domain), np.array([1]), np.full((1, 2), there))


def at_most(*pods: int, domain: Sequence[int] = (0, 1, 2, 0), num_pods: int = 6) -> AtMost:
    """One a domain."""
    return AtMost(members(*pods, num_pods=num_pods), np.array(domain), np.array([1]))


@pytest.mark.parametrize(
    ("problem", "bound"),
    [
        pytest.param(swap(), (0, 2), id="no rules"),
        pytest.param(swap([at_most(0, 3)]), (1, 0), id="one of its group stays on node 0"),
        pytest.param(swap([at_most(0, 1)]), (0, 2), id="the pod that leaves is of its group"),
        pytest.param(swap([at_most(0, 3, domain=(-1, 1, 2, 0))]), (0, 2), id="node 0 is in no domain"),
        pytest.param(swap([at_most(0, 6, num_pods=7)], more=[3]), (0, 2), id="one of its group may leave the domain"),
        pytest.param(swap([spread(0, 3, 5)]), (1, 0), id="zone 0 would have two more than before"),
        pytest.param(swap([spread(0, 2, 3, 5)]), (1, 0), id="zones that are even would not be"),
        pytest.param(swap([spread(0, 1, 3)]), (0, 2), id="the pod that leaves changes zones the other way"),
        pytest.param(swap([spread(0, 3, 6, num_pods=7)], more=[3]), (0, 2), id="another one may change zones"),
        pytest.param(swap([spread(0, 1, 2, 4)]), (0, 2), id="zones are more even than before"),
        pytest.param(swap([spread(0, 2, 4)]), (0, 2), id="zones are uneven before"),
        pytest.param(swap([spread(0, 3, 5, there=False)]), (0, 2), id="no zone counts"),
        pytest.param(swap([spread(0, 3, 5, domain=(0, 1, 1, -1))]), (1, 0), id="pods without a zone do not count"),
    ],
)
def test_rules_between_large_pods_count(problem: Problem, bound: Value) -> None:
    assert BalanceUtilization(_CEILING).prepare(problem).bound() == bound


def test_what_large_pods_do_not_need_may_be_used_up() -> None:
    """The pinned pod of node 0 has all of a second resource."""
    one = swap()
    need = np.column_stack((one.need, [0, 0, 0, 4, 0, 0]))
    problem = make_problem(
        need,
        np.column_stack((one.capacity, [4] * 4)),
        one.assignment,
        pod_class=one.pod_class,
        allowed=one.allowed,
        evictable=one.evictable,
    )
    ceiling = np.column_stack((_CEILING, [4] * 4))

    assert BalanceUtilization(ceiling).prepare(problem).bound() == best_balance(problem, ceiling) == (0, 2)


def test_a_large_pod_takes_as_many_more_as_it_needs_on_a_node_that_is_over_its_ceiling() -> None:
    """Both pods of 4 leave node 1 for the one of 6, and one would without it."""
    problem = make_problem(
        [[6], [5], [4], [4], [3], [3]],
        [[12]] * 4,
        [0, 0, 1, 1, 2, 3],
        evictable=[True, False, True, True, False, False],
    )
    ceiling = np.full((4, 1), 7)

    assert BalanceUtilization(ceiling).prepare(problem).bound() == best_balance(problem, ceiling) == (0, 3)


def test_one_pod_makes_place_for_two_large_ones() -> None:
    """The pod of 9 leaves node 1, where both of 5 come to."""
    problem = make_problem(
        [[5], [4], [5], [4], [9]],
        [[10], [10], [10], [20]],
        [0, 0, 2, 2, 1],
        pod_class=[0, 1, 0, 1, 1],
        allowed=[[True, True, True, False], [True] * 4],
        evictable=[True, False, True, False, True],
    )
    ceiling = np.array([[7], [10], [7], [20]])

    assert BalanceUtilization(ceiling).prepare(problem).bound() == best_balance(problem, ceiling) == (0, 3)


def test_pods_share_the_room_of_the_one_node_that_has_some_for_them() -> None:
    """Nodes 0 and 1 are relieved by their pods of 4, of which node 2 has room for one; node 3 has room for two of 2."""
    problem = make_problem(
        [[4], [2], [2], [4], [4], [2], [2], [4]],
        [[12], [12], [4], [4]],
        [0, 0, 0, 0, 1, 1, 1, 1],
        pod_class=[0, 1, 1, 2, 0, 1, 1, 2],
        allowed=[[True, True, True, False], [True, True, False, True], [False] * 4],
    )
    ceiling = np.array([[8], [8], [4], [4]])

    assert BalanceUtilization(ceiling).prepare(problem).bound() == best_balance(problem, ceiling) == (0, 3)


def test_no_pod_has_to_leave_a_node_that_is_at_its_ceiling_where_no_large_one_comes() -> None:
    """One move in all: of nodes 0 and 3 one is relieved. Both pods of 3 could make place for the one of 6."""
    problem = make_problem(
        [[6], [2], [1], [3], [3], [1], [4], [2], [7]],
        [[10]] * 4,
        [0, 0, 0, 1, 1, 1, 2, 3, 3],
        evictable=[True, True, False, True, True, False, False, True, False],
        rules=[MoveLimit(np.zeros(9, np.int64), np.array([1]))],
    )
    ceiling = np.full((4, 1), 7)

    assert BalanceUtilization(ceiling).prepare(problem).bound() == best_balance(problem, ceiling) == (1, 1)
