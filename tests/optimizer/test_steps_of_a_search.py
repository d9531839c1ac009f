"""Steps of a search: how much of its limits each call of the solver gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, Problem, make_problem, search
from descheduler.optimizer.cp_sat.solve import Solved, solve_neighbourhood
from descheduler.optimizer.search import Search, SearchTask


@pytest.mark.parametrize(
    ("limits", "work_of_a_call"),
    [
        pytest.param(Limits(work=2.0), 0.1, id="at least so much that a call can gain something"),
        pytest.param(Limits(seconds=1e6, work=10.0), 0.3, id="a small share of the work"),
        pytest.param(Limits(seconds=20.0, work=1e6), 0.6, id="a small share of the seconds"),
        pytest.param(Limits(work=1e6), 1.0, id="no more where there is much time"),
    ],
)
def test_a_call_of_the_solver_gets_a_small_share_of_the_limits(
    limits: Limits, work_of_a_call: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def solved(*arguments: Any, work_limit: float, **others: Any) -> Solved:
        asked.append(work_limit)
        return solve_neighbourhood(*arguments, work_limit=work_limit, **others)

    monkeypatch.setattr(search, "solve_neighbourhood", solved)

    searching = Search(
        SearchTask(_only_a_swap_helps(), BalanceUtilization(ceiling=np.array([[7], [6]])), limits, seed=0)
    )
    searching.start()
    searching.improve(searching.budget)

    assert asked
    assert asked == pytest.approx([work_of_a_call] * len(asked))


def _only_a_swap_helps() -> Problem:
    """8 of at most 7 on the first node, and on the other room for less than each of its pods needs."""
    return make_problem(need=[[5], [3], [4]], capacity=[[20], [20]], assignment=[0, 0, 1])
