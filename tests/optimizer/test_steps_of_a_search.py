"""Steps of a search: what each call of the solver is told, and how much it may take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, Problem, Ties, make_problem, search
from descheduler.optimizer.cp_sat.solve import Solved, solve_neighbourhood
from descheduler.optimizer.search import Search, SearchTask

ALL = float("inf")


class _Calls:
    """What the solver is called with: the limit and the seed of each call, which finds nothing with so much `work`.

    The solver itself is called if that is None; `ALL` is all that it may take.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, work: float | None = None) -> None:
        self.made: list[tuple[float, int]] = []
        self._work = work
        monkeypatch.setattr(search, "solve_neighbourhood", self._solved)

    def _solved(self, *arguments: Any, work_limit: float, seed: int, **others: Any) -> Solved:
        self.made.append((work_limit, seed))
        if self._work is not None:
            return Solved((), was_closed=False, work=min(self._work, work_limit))
        return solve_neighbourhood(*arguments, work_limit=work_limit, seed=seed, **others)

    def of_search(self, limits: Limits, ties: Ties | None = None, num_full: int = 0) -> list[tuple[float, int]]:
        """Those of one search, for two nodes and so many that are full."""
        self.made = []
        balance = BalanceUtilization(ceiling=np.array([[7], [6], *[[0]] * num_full]))
        searching = Search(SearchTask(_only_a_swap_helps(num_full), balance, limits, seed=0, ties=ties))
        searching.start()
        searching.improve(searching.budget)
        return self.made


def test_a_search_with_more_time_begins_with_the_calls_of_one_with_less(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _Calls(monkeypatch, work=ALL)

    short, long = calls.of_search(Limits(work=5.0)), calls.of_search(Limits(work=40.0))

    assert 2 < len(short) < len(long)
    assert long[: len(short) - 1] == short[:-1]
    (cut, seed), (whole, same_seed) = short[-1], long[len(short) - 1]  # the last one gets what is left
    assert (cut <= whole, seed) == (True, same_seed)


def test_a_call_gets_a_small_share_of_what_was_done_but_never_too_little_nor_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The problem is too large to be solved as a whole."""
    limits = [limit for limit, _ in _Calls(monkeypatch, work=5.0).of_search(Limits(work=60.0), num_full=400)]

    assert limits[0] == 0.1
    assert limits[-1] == 1.0
    assert sorted(limits) == limits


def test_a_small_problem_is_tried_as_a_whole_without_relaxations_and_with_them_and_then_for_cheaper_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [limit for limit, _ in _Calls(monkeypatch, work=ALL).of_search(Limits(work=60.0))]

    assert limits[:4] == [0.05, 0.05, 0.2, 0.1]  # and a neighbourhood
    assert max(limits) <= 4 * 10.0


def test_a_search_does_not_end_early_while_a_node_is_over_its_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few moves the plan has, and however little they cost."""
    calls, limits = _Calls(monkeypatch, work=0.5), Limits(work=40.0)

    assert calls.of_search(limits, Ties(moves=5, cost=100)) == calls.of_search(limits)


def test_a_small_problem_is_solved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(_Calls(monkeypatch).of_search(Limits(work=5.0))) == 1


def _only_a_swap_helps(num_full: int = 0) -> Problem:
    """8 of at most 7 on the first node, and on the other room for less than each of its pods needs."""
    return make_problem(need=[[5], [3], [4]], capacity=[[20], [20], *[[0]] * num_full], assignment=[0, 0, 1])
