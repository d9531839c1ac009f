"""The first plan of a consolidation: greedy orders, and such that chance has a part in."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import ConsolidateNodes, Limits, MoveLimit, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget


def contended() -> Problem:
    """Node 0 has the fewest pods, one of each of two budgets, which nodes 1 and 2 need; node 3 has room for all."""
    return make_problem(
        need=[[1]] * 8 + [[10]],
        capacity=[[10]] * 3 + [[20]],
        assignment=[0, 0, 1, 1, 1, 2, 2, 2, 3],
        evictable=[True] * 8 + [False],
        rules=[MoveLimit(np.array([0, 1, 0, -1, -1, 1, -1, -1, -1]), np.array([1, 1]))],
    )


def emptied_first(*, work: float) -> list[int]:
    """The nodes without pods after the first plan."""
    placement = Arrangement(contended())
    ConsolidateNodes().prepare(contended()).first_plan(placement, np.random.default_rng(0), Budget(Limits(work=work)))
    return sorted({0, 1, 2, 3} - set(placement.at.tolist()))


def test_some_of_many_drains_do_not_begin_with_the_node_that_uses_up_the_budgets_of_others() -> None:
    assert emptied_first(work=1.0) == [1, 2]


def test_greedy_orders_are_tried_however_little_time_there_is() -> None:
    assert emptied_first(work=0.0) == [0]
