"""Which limits keep a plan from its figure, what the rest needs without them, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import MoveLimit, Problem, make_problem
from descheduler.optimizer.arrays import Ints
from descheduler.planner.search.stopping_limits import StoppingLimits, stopping_limits, used_up


def limit(most: int, *groups: int, name: str = "total (9)") -> MoveLimit:
    return MoveLimit(np.array(groups), np.array([most]), (name,))


def problem(*rules: MoveLimit, evictable: Sequence[bool] = (True,) * 4) -> Problem:
    """Four pods on two nodes."""
    return make_problem([[1]] * 4, [[9]] * 2, [0, 0, 0, 1], evictable=evictable, rules=rules)


def moved(*pods: int) -> Ints:
    return np.array(pods, np.int64)


def lifted(found: Problem) -> list[int]:
    """The limits of each rule, by the order of these in which they were given."""
    return [int(rule.limit[0]) for rule in found.move_limits]


@pytest.mark.parametrize(
    ("missing", "most", "large", "text"),
    [
        pytest.param(0, 2, "", "", id="nothing is missing"),
        pytest.param(-1, 2, "", "", id="more than that was done"),
        pytest.param(1, 2, "", "the rest needs at least 1 more eviction (1 more run)", id="one run"),
        pytest.param(3, 2, "", "the rest needs at least 3 more evictions (2 more runs)", id="two runs"),
        pytest.param(4, 2, "", "the rest needs at least 4 more evictions (2 more runs)", id="two full runs"),
        pytest.param(3, None, "", "the rest needs at least 3 more evictions; node a has too many", id="no run"),
        pytest.param(3, 0, "", "the rest needs at least 3 more evictions; node a has too many", id="none in a run"),
        pytest.param(3, 2, None, "the rest needs at least 3 more evictions; node a has too many", id="unknown"),
        pytest.param(
            3,
            2,
            "node b needs 3 evictions",
            "the rest needs at least 3 more evictions; node b needs 3 evictions, more than x and y allows in a run",
            id="too many for any run",
        ),
    ],
)
def test_the_rest_is_told_in_evictions_and_in_runs(
    missing: int, most: int | None, large: str | None, text: str
) -> None:
    found = StoppingLimits(["x", "y"], 5 + missing, most, "node a has too many")

    assert found.rest(5, lambda number: large) == text


def test_names_are_listed() -> None:
    assert StoppingLimits(["x"], 1, None).text == "x"
    assert StoppingLimits(["x", "y", "z"], 1, None).text == "x, y and z"
    assert StoppingLimits(["x"], 9, None).rest(5, lambda number: "") == "the rest needs at least 4 more evictions"


@pytest.mark.parametrize(
    ("most", "number", "text"),
    [(3, 2, ""), (3, 3, "total (9)"), (2, 3, "total (9)")],
)
def test_a_limit_of_the_whole_run_is_used_up_by_as_many_evictions(most: int, number: int, text: str) -> None:
    assert used_up(problem(limit(most, 0, 0, 0, 0)), number, moved()) == text


def test_limits_of_some_pods_and_such_without_a_name_are_never_used_up() -> None:
    assert used_up(problem(limit(0, 0, 0, 0, -1)), 3, moved()) == ""
    assert used_up(problem(limit(0, 0, 0, 0, 0, name="")), 3, moved()) == ""
    stays = problem(limit(0, 0, 0, 0, -1), evictable=(True, True, True, False))
    assert used_up(stays, 3, moved()) == "total (9)"


@pytest.mark.parametrize(
    ("groups", "most", "names", "pods", "text"),
    [
        pytest.param((0, 0, 1, 1), (1, 1), ("ns (1)", "ns (1)"), (0, 2), "ns (1)", id="each has lost as many"),
        pytest.param((0, 0, 1, 1), (1, 1), ("ns (1)", "ns (1)"), (0,), "", id="one has not"),
        pytest.param((0, 0, 1, 1), (0, 0), ("ns (0)", "ns (0)"), (), "ns (0)", id="none may leave"),
        pytest.param((0, 0, 1, 1), (1, 2), ("ns (1)", "ns (1)"), (0, 2, 3), "ns (1)", id="all of one have left"),
        pytest.param((0, 0, 1, -1), (1, 1), ("ns (1)", "ns (1)"), (0, 2), "", id="a pod without a limit is left"),
        pytest.param((0, 0, 1, 1), (1, 1), ("budget x", "budget y"), (0, 2), "", id="limits of several names"),
        pytest.param((0, 0, 1, 1), (1, 1), ("", ""), (0, 2), "", id="limits without a name"),
        pytest.param((0, 0, 1, 1), (2, 2), ("ns (2)", "ns (2)"), (0, 1, 2, 3), "", id="no pod is left"),
    ],
)
def test_a_limit_of_nodes_or_namespaces_is_used_up_where_each_has_lost_as_many(
    groups: Sequence[int], most: Sequence[int], names: tuple[str, ...], pods: Sequence[int], text: str
) -> None:
    rule = MoveLimit(np.array(groups), np.array(most), names)

    assert used_up(problem(rule), len(pods), moved(*pods)) == text


def stopped(*rules: MoveLimit, known: Mapping[Any, tuple[int, int]], figure: int = 2) -> StoppingLimits | None:
    """Where it is `known` what is possible by limits."""
    return stopping_limits(problem(*rules), figure, lambda found: known[tuple(lifted(found))])


TOTAL, SOME = limit(1, 0, 0, 0, 0), limit(1, 0, 0, -1, -1, name="budget x")


def test_the_one_limit_that_binds_is_named_with_what_is_needed_without_it() -> None:
    found = stopped(TOTAL, known={(4,): (1, 3)})

    assert found == StoppingLimits(["total (9)"], 3, 9, "")


@pytest.mark.parametrize(
    ("figure", "known"),
    [
        pytest.param(2, {(4,): (2, 3)}, id="no better without it"),
        pytest.param(0, {}, id="nothing is left"),
    ],
)
def test_a_limit_without_which_nothing_is_better_stops_nothing(
    figure: int, known: dict[tuple[int, ...], tuple[int, int]]
) -> None:
    assert stopped(TOTAL, known=known, figure=figure) is None


def test_limits_that_let_all_pods_leave_or_have_no_name_stop_nothing() -> None:
    assert stopped(limit(4, 0, 0, 0, 0), known={}) is None
    assert stopped(limit(1, 0, 0, 0, 0, name=""), known={}) is None
    assert stopped(MoveLimit(np.zeros(4, np.int64), np.array([1])), known={}) is None


@pytest.mark.parametrize(
    ("without_total", "without_budget", "stopping"),
    [
        pytest.param((1, 2), (2, 0), StoppingLimits(["total (9)"], 2, 9), id="the one of the run"),
        pytest.param((2, 0), (1, 4), StoppingLimits(["budget x"], 4, None), id="the budget"),
        pytest.param((1, 2), (1, 4), StoppingLimits(["total (9)", "budget x"], 3, None), id="either"),
    ],
)
def test_of_two_limits_those_are_named_that_stop_alone(
    without_total: tuple[int, int], without_budget: tuple[int, int], stopping: StoppingLimits
) -> None:
    """A limit that is lifted allows 4 moves, and is the last of the rules."""
    total, budget = limit(1, 0, 0, 0, 0), limit(2, 0, 0, 0, -1, name="budget x")
    known = {(4, 4): (1, 3), (2, 4): without_total, (1, 4): without_budget}

    assert stopped(total, budget, known=known) == stopping


def test_limits_that_stop_only_together_are_all_named() -> None:
    known = {(4, 4): (1, 3), (1, 4): (2, 2)}

    found = stopped(TOTAL, SOME, known=known)

    assert found is not None
    assert (found.names, found.least_evictions, found.most_of_run) == (["total (9)", "budget x"], 3, None)


def test_a_limit_beside_those_that_stop_together_is_not_named() -> None:
    """Nothing is better without one of the three, and the total may stay where the two others are lifted."""
    other, total = limit(1, 0, 0, -1, -1, name="budget y"), limit(2, 0, 0, 0, 0)
    known = {(4, 4, 4): (1, 3), (1, 2, 4): (2, 0), (1, 1, 4): (2, 0), (1, 4, 4): (2, 0), (2, 4, 4): (1, 2)}

    found = stopped(SOME, other, total, known=known)

    assert found is not None
    assert (found.names, found.least_evictions) == (["budget x", "budget y"], 2)


def test_where_all_pods_of_a_node_leave_at_once_the_node_is_named_that_a_budget_keeps() -> None:
    """Node a has three pods that could leave, of which two may; node b has one."""
    found = stopping_limits(problem(limit(2, 0, 0, 0, 0, name="budget x")), 2, lambda other: (1, 3), ["a", "b"])

    assert found is not None
    assert found.too_many == "node a has 3 pods that budget x counts together: 2 may leave in a run"
    kept = problem(limit(2, 0, 0, 0, 0, name="budget x"), evictable=(True, True, False, True))
    stays = stopping_limits(kept, 2, lambda other: (1, 3), ["a", "b"])
    assert stays is not None
    assert stays.too_many == ""


@pytest.mark.parametrize(
    ("number", "names"), [(2, ["b0", "b1"]), (3, ["b0", "b1", "1 more"]), (4, ["b0", "b1", "2 more"])]
)
def test_of_many_budgets_those_are_named_that_keep_most(number: int, names: list[str]) -> None:
    """Budget 0 keeps four pods, budget 1 three, and so on."""
    sizes = [5, 4, 3, 2][:number]
    group = np.repeat(np.arange(number), sizes)
    rule = MoveLimit(group, np.ones(number, np.int64), tuple(f"b{each}" for each in range(number)))
    pods = len(group)

    found = stopping_limits(make_problem([[1]] * pods, [[99]], [0] * pods, rules=[rule]), 2, lambda other: (1, 3))

    assert found is not None
    assert (list(found.names), found.most_of_run) == (names, None)


def test_neither_limits_nor_nodes_without_a_name_are_named() -> None:
    """Both keep three pods of the first node from leaving at once."""
    nameless = problem(limit(2, 0, 0, 0, 0, name=""), limit(0, -1, -1, -1, 0, name="other"))
    named = problem(limit(2, 0, 0, 0, 0, name="budget x"))

    without_name = stopping_limits(nameless, 2, lambda other: (1, 3), ["a", "b"])
    without_node = stopping_limits(named, 2, lambda other: (1, 3), ["", "b"])

    assert without_name is not None
    assert without_node is not None
    assert without_name.too_many == "node b has 1 pod that other counts together: 0 may leave in a run"
    assert without_node.too_many == ""


@pytest.mark.parametrize(("most", "text"), [(1, "node a has 3 pods that"), (2, "node a has 3 pods that"), (3, "")])
def test_a_node_is_named_with_more_pods_than_may_leave(most: int, text: str) -> None:
    """All four pods are counted together: three of node a, and one of node b."""
    found = stopping_limits(problem(limit(most, 0, 0, 0, 0, name="budget x")), 2, lambda other: (1, 4), ["a", "b"])

    assert found is not None
    assert found.too_many.startswith(text)
    assert bool(found.too_many) is bool(text)


def test_pending_pods_leave_no_node() -> None:
    """The first pod waits for a node, and no limit counts it."""
    waits = make_problem([[1]] * 4, [[9]] * 2, [-1, 0, 0, 1], rules=[limit(1, -1, 0, 0, 0)])

    found = stopping_limits(waits, 2, lambda other: (1, 3), ["a", "b"])

    assert found is not None
    assert found.too_many == "node a has 2 pods that total (9) counts together: 1 may leave in a run"
    assert used_up(waits, 1, moved()) == "total (9)"


def test_of_three_limits_of_which_two_stop_alone_those_are_named_with_what_both_need() -> None:
    """Limits 1 and 2 stop alone; limit 3 stops nothing by itself. Those that are lifted are the last of the rules."""
    rules = [limit(most, 0, 0, 0, 0, name=f"l{most}") for most in (1, 2, 3)]
    known = {(4, 4, 4): (1, 9), (2, 3, 4): (1, 5), (1, 3, 4): (1, 6), (1, 2, 4): (2, 0), (3, 4, 4): (1, 7)}

    assert stopped(*rules, known=known) == StoppingLimits(["l1", "l2"], 7, None)
