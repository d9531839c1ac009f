"""How much of its limits a search spends on plans that differ by ties alone."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, Problem, Ties, make_problem, solve

pytestmark = pytest.mark.long

CEILING = np.full((40, 1), 70)


def crowded() -> Problem:
    """One of two pods has to leave each of 20 nodes. The cheaper ones fit on one node alone, the others on 20."""
    hot, cold = range(20), range(20, 40)
    need = [[25]] * 20 + [[20]] * 20 + [[30]] * 20 + [[45]] + [[50]] * 19
    node = [*hot, *hot, *hot, *cold]
    return make_problem(need, [[100]] * 40, node, evictable=[True] * 40 + [False] * 40, cost=[1000] * 20 + [1005] * 60)


def test_a_search_ends_early_where_ties_alone_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, balance = crowded(), BalanceUtilization(CEILING)
    prepared = balance.prepare(problem)
    monkeypatch.setattr(prepared, "bound", lambda: (0, 20 * 1000))  # as if it knew nothing of the one node

    whole = solve(problem, balance, Limits(work=4.0), prepared=prepared)
    early = solve(problem, balance, Limits(work=4.0), ties=Ties(20, 200), prepared=prepared)

    assert len(early.moves) == 20
    assert early.work < 1.0 < whole.work
