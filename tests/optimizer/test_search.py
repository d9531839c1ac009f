"""One search: where it begins, what it keeps, when it ends, and which part of its work is for what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest

from descheduler.optimizer import Limits, Problem, Ties, make_problem, search
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.cp_sat.solve import Solved
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Neighbourhood, Objective, PreparedObjective, Value
from descheduler.optimizer.search import Incumbent, Search, SearchTask

PROBLEM = make_problem([[1]] * 4, [[4]] * 2, [0] * 4)
"""Four pods on node 0; node 1 has room for all."""


class Goal:
    """Few pods on node 0, by whatever ways it is given."""

    share = 1.0

    def __init__(
        self,
        *,
        bound: int = 0,
        first: Sequence[tuple[int, int]] = (),
        tidied: Sequence[tuple[int, int]] = (),
        varies: bool = False,
        anneals: bool = False,
        annealed_to: int = 1,
        pieces: int = 99,
    ) -> None:
        self._bound, self._first, self._tidied = bound, first, tidied
        self._varies, self._anneals, self._pieces = varies, anneals, pieces
        self._annealed_to = annealed_to
        self.varied: list[Limits] = []
        self.sizes: list[int] = []
        self.begun_at: list[list[int]] = []
        self.num_asked = self.num_annealed = 0

    def prepare(self, problem: Problem) -> Goal:
        """Itself, whatever the problem is."""
        return self

    def value(self, assignment: Ints) -> Value:
        """(pods on node 0, moves)."""
        return int((assignment == 0).sum()), int((assignment != 0).sum())

    def bound(self) -> Value:
        """No fewer pods, and no moves."""
        return self._bound, 0

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Nothing: single moves are not what is tested here."""
        return np.zeros(usage.shape[1:])

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """Nothing."""
        return np.zeros(np.broadcast_shapes(pods.shape, nodes.shape))

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The moves that it was given."""
        for pod, node in self._first:
            placement.move(pod, node)

    def tidy(self, placement: Arrangement) -> None:
        """Such, too."""
        for pod, node in self._tidied:
            placement.move(pod, node)

    def vary(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> bool:
        """Moves nothing, and takes note of how long it might."""
        self.varied.append(budget._limits)
        budget.spend(budget._limits.work or 0.0)
        return self._varies

    def annealing(self, placement: Arrangement, rng: np.random.Generator) -> Any:
        """Itself."""
        self.num_asked += 1
        self._placement = placement
        return self if self._anneals else None

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Moves one pod a time, and spends a third of the work."""
        self.num_annealed += 1
        self._placement.move(self.num_annealed, self._annealed_to)
        budget.spend(0.34)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """All, so many times."""
        self.sizes.append(num_pods)
        self.begun_at.append(placement.at.tolist())
        return None if len(self.sizes) > self._pieces else Neighbourhood(np.arange(2), np.arange(4))


def searching(goal: Goal, *, work: float = 1.0, problem: Problem = PROBLEM, **facts: Any) -> tuple[Search, list[Value]]:
    """A search, and the values that it tells of."""
    told: list[Value] = []
    task = SearchTask(problem, cast(Objective, goal), Limits(work=work), 0, **facts)
    return Search(task, on_incumbent=lambda incumbent: told.append(incumbent.value)), told


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the solver answer the same each time."""

    def answer(*changes: tuple[int, int], closed: bool = True, work: float = 0.05) -> None:
        monkeypatch.setattr(search, "solve_neighbourhood", lambda *_, **others: Solved(tuple(changes), closed, work))

    return answer


def large(problem: Problem = PROBLEM) -> Problem:
    """One that is too large to be solved at once."""
    return make_problem([[1]] * 4, [[4]] * 300, [0] * 4)


def test_a_search_begins_with_what_there_is() -> None:
    found, told = searching(Goal())

    assert (found.incumbent.value, found.incumbent.assignment.tolist(), told) == ((4, 0), [0] * 4, [])


def test_open_moves_of_a_hint_come_first_and_then_what_is_planned_on_top() -> None:
    """Pod 3 stays, pod 2 is to wait, and the first plan moves pod 1."""
    problem = make_problem([[1]] * 4, [[4]] * 2, [0] * 4, evictable=[True, True, True, False])
    found, told = searching(Goal(first=[(1, 1)]), problem=problem, hint=np.array([1, 0, -1, 1]))

    found.start()

    assert found.incumbent.assignment.tolist() == [1, 1, 0, 0]
    assert told == [(2, 2)]


def test_moves_of_a_hint_that_open_each_other_are_all_made() -> None:
    """Pod 0 takes the room that pod 1 leaves, and pod 1 that of pod 2."""
    problem = make_problem([[4], [4], [4]], [[4], [4], [4], [4]], [0, 1, 2])

    found, _ = searching(Goal(), problem=problem, hint=np.array([1, 2, 3]))
    found.start()

    assert found.incumbent.assignment.tolist() == [1, 2, 3]


def test_a_hint_leads_to_the_first_node_as_to_any_other() -> None:
    problem = make_problem([[1]] * 3, [[4]] * 3, [0, 0, 2])

    found, _ = searching(Goal(), problem=problem, hint=np.array([1, 1, 0]))
    found.start()

    assert found.incumbent.assignment.tolist() == [1, 1, 0]


def test_what_is_proposed_is_taken_where_it_is_better() -> None:
    for proposed, expected in (([1, 1, 1, 0], [1, 1, 1, 0]), ([0, 0, 0, 0], [0, 1, 0, 0])):
        found, _ = searching(Goal(first=[(1, 1)]), proposed=np.array(proposed))

        found.start()

        assert found.incumbent.assignment.tolist() == expected


def test_what_is_tidied_counts_and_what_is_worse_is_taken_back() -> None:
    better, told = searching(Goal(first=[(1, 1)], tidied=[(2, 1)]))
    worse, told_of_worse = searching(Goal(first=[(1, 1)], tidied=[(1, 0)]))
    for each in (better, worse):
        each.start()

    assert (better.incumbent.assignment.tolist(), told) == ([0, 1, 1, 0], [(3, 1), (2, 2)])
    assert (worse.incumbent.assignment.tolist(), told_of_worse) == ([0, 1, 0, 0], [(3, 1)])


def test_equal_plans_take_the_place_of_each_other_without_a_word() -> None:
    found, told = searching(Goal(first=[(1, 1)], tidied=[(1, 0), (2, 1)]))

    found.start()

    assert (found.incumbent.assignment.tolist(), told) == ([0, 0, 1, 0], [(3, 1)])
    assert found.incumbent.first.tolist() == [0, 1, 0, 0]


def test_nothing_is_solved_at_the_bound(answers: Callable[..., None]) -> None:
    answers((0, 1))
    found, told = searching(Goal(bound=4))
    known, _ = searching(Goal(), bound=(4, 0))

    for each in (found, known):
        each.start()
        each.improve(each.budget)

        assert (each.incumbent.value, each.budget.spent, told) == ((4, 0), 0.0, [])


def test_a_small_problem_is_solved_whole_and_done_where_that_is_closed(answers: Callable[..., None]) -> None:
    answers((0, 1), (1, 1))
    goal = Goal()
    found, told = searching(goal)

    found.improve(found.budget)

    assert (found.is_closed, found.incumbent.value, goal.sizes, told) == (True, (2, 2), [], [(2, 2)])
    assert found.budget.spent == pytest.approx(0.05 + 0.01 + 4 * 5e-4)


@pytest.mark.parametrize(("pods", "nodes", "is_whole"), [(4, 250, True), (4, 251, False)])
def test_a_problem_is_small_by_its_pairs_of_pods_and_nodes(
    answers: Callable[..., None], pods: int, nodes: int, is_whole: bool
) -> None:
    answers()
    goal = Goal(pieces=0)
    found, _ = searching(
        goal,
        problem=make_problem([[1]] * (pods + 1), [[9]] * nodes, [0] * (pods + 1), evictable=[True] * pods + [False]),
    )

    found.improve(found.budget)

    assert found.is_closed is is_whole


def test_pieces_are_solved_until_there_are_none(answers: Callable[..., None]) -> None:
    answers((0, 1))
    goal = Goal(pieces=3)
    found, _ = searching(goal, problem=large())

    found.improve(found.budget)

    assert (len(goal.sizes), found.incumbent.value, found.is_closed) == (4, (3, 1), False)


def test_pieces_are_solved_until_the_bound_is_reached(answers: Callable[..., None]) -> None:
    answers((0, 1))
    goal = Goal(bound=3)
    found, _ = searching(goal, problem=large(), bound=(3, 1))

    found.improve(found.budget)

    assert (len(goal.sizes), found.incumbent.value) == (1, (3, 1))


@pytest.mark.parametrize(
    ("closed", "work", "sizes"),
    [
        pytest.param(False, 0.05, [80, 64, 51, 40], id="smaller where they do not close"),
        pytest.param(True, 0.029, [80, 82, 84, 86], id="larger where they close quickly"),
        pytest.param(True, 0.031, [80, 80, 80, 80], id="the same where they close in time"),
    ],
)
def test_the_size_of_pieces_follows_from_how_they_close(
    answers: Callable[..., None], closed: bool, work: float, sizes: list[int]
) -> None:
    answers(closed=closed, work=work)
    goal = Goal(pieces=3)
    found, _ = searching(goal, problem=large(), work=50.0)

    found.improve(found.budget)

    assert goal.sizes == sizes


def test_pieces_are_neither_too_small_nor_too_large(answers: Callable[..., None]) -> None:
    least, most = Goal(pieces=40), Goal(pieces=200)

    answers(closed=False, work=1e-3)
    searching(least, problem=large(), work=50.0)[0].improve(Budget(Limits(work=50.0)))
    answers(closed=True, work=1e-3)
    searching(most, problem=large(), work=50.0)[0].improve(Budget(Limits(work=50.0)))

    assert (least.sizes[-1], most.sizes[-1]) == (12, 400)


def test_an_objective_s_own_search_gets_three_times_the_work_of_pieces_in_longer_and_longer_stretches(
    answers: Callable[..., None],
) -> None:
    answers(work=0.1, closed=False)
    goal = Goal(varies=True, pieces=30)
    found, _ = searching(goal, problem=large(), work=100.0)

    found.improve(found.budget)

    lengths = [limits.work for limits in goal.varied]
    assert lengths[:4] == pytest.approx([0.25, 0.25, 0.5, 1.0])
    assert max(length for length in lengths if length is not None) == pytest.approx(2.0)
    solved = 0.112 * 30
    assert 2.5 * solved < sum(length or 0.0 for length in lengths) < 3.0 * solved + 2.0


def test_an_own_search_comes_before_the_first_piece(answers: Callable[..., None]) -> None:
    answers()
    goal = Goal(varies=True, pieces=0)
    found, _ = searching(goal, problem=large(), work=100.0)

    found.improve(found.budget)

    assert len(goal.varied) == 1


def test_an_own_search_that_has_nothing_to_do_is_not_asked_again(answers: Callable[..., None]) -> None:
    answers()
    goal = Goal(varies=False, pieces=5)
    found, _ = searching(goal, problem=large(), work=50.0)

    found.improve(found.budget)

    assert len(goal.varied) == 1


def test_annealing_is_looked_at_when_it_is_better_and_goes_on_until_its_share_is_over(
    answers: Callable[..., None],
) -> None:
    answers()
    goal = Goal(anneals=True, pieces=0)
    found, told = searching(goal, problem=large())

    for _ in range(4):
        found.improve(found.budget.part(Limits(work=0.34)))

    assert (goal.num_asked, goal.num_annealed) == (1, 3)
    assert told == [(3, 1), (2, 2), (1, 3)]


def test_no_annealing_begins_where_no_work_is_left(answers: Callable[..., None]) -> None:
    goal = Goal(anneals=True)
    found, _ = searching(goal, problem=large())

    found.improve(found.budget.part(Limits(work=0.0)))

    assert goal.num_asked == 0


def test_an_annealing_that_has_led_to_nothing_better_is_taken_back_when_it_ends(answers: Callable[..., None]) -> None:
    answers()
    goal = Goal(first=[(1, 1)], anneals=True, annealed_to=0, pieces=0)
    goal.share = 0.3
    found, _ = searching(goal, problem=large())
    found.start()

    found.improve(found.budget)

    assert (goal.num_annealed, goal.begun_at) == (1, [[0, 1, 0, 0]])


def test_the_best_of_another_search_is_taken_unless_this_one_anneals(answers: Callable[..., None]) -> None:
    answers()
    plain, _ = searching(Goal())
    annealing, _ = searching(Goal(anneals=True, pieces=0), problem=large(), work=2.0)
    annealing.improve(annealing.budget.part(Limits(work=0.1)))

    for each in (plain, annealing):
        each.adopt(np.array([1, 1, 1, 0]))
    for no_better in ([1, 0, 0, 0], [0, 1, 1, 1]):
        plain.adopt(np.array(no_better))

    assert (plain.incumbent.value, plain.incumbent.assignment.tolist()) == ((1, 3), [1, 1, 1, 0])
    assert annealing.incumbent.value == (3, 1)


@pytest.mark.parametrize(
    ("ties", "bound", "ends_early"),
    [
        pytest.param(Ties(1, 1), (3, 0), True, id="by ties alone"),
        pytest.param(Ties(0, 1), (3, 0), False, id="more moves than are needed"),
        pytest.param(Ties(1, 0), (3, 0), False, id="it costs more than ties do"),
        pytest.param(Ties(1, 9), (2, 0), False, id="another figure is above its bound"),
        pytest.param(None, (3, 0), False, id="ties are never over"),
    ],
)
def test_a_search_ends_soon_where_ties_alone_are_left(
    answers: Callable[..., None], ties: Ties | None, bound: Value, ends_early: bool
) -> None:
    answers()
    goal = Goal(first=[(1, 1)], pieces=999)
    found, _ = searching(goal, problem=large(), ties=ties, bound=bound, work=10.0)
    found.start()

    found.improve(found.budget)

    assert (found.budget.spent < 1.0) is ends_early
    assert (found.budget.spent >= 10.0) is not ends_early
    if ends_early:
        assert found.budget.progress >= 0.05


def test_incumbents_say_when_they_were_found(answers: Callable[..., None]) -> None:
    answers((0, 1), work=0.3)
    seen: list[Incumbent] = []
    task = SearchTask(PROBLEM, cast(Objective, Goal()), Limits(work=1.0), 0)
    found = Search(task, on_incumbent=seen.append)

    found.improve(found.budget)

    assert seen[0].work == pytest.approx(0.312)
    assert seen[0].seconds >= 0.0
    assert isinstance(cast(PreparedObjective, Goal()).value(seen[0].assignment), tuple)
