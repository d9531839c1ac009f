"""What objectives can state of a piece of the cluster, each by what the solver makes of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from descheduler.optimizer import MaxSkew, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.cp_sat.solve import Solved, solve_neighbourhood
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective
from tests.optimizer.cp_sat.ways import ways


class Statement:
    """An objective that is stated by a function."""

    def __init__(self, state: Callable[[Any], None]) -> None:
        self._state = state

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """As of an objective; evictions cost 1 beside."""
        self._state(model)
        pods = neighbourhood.pods.tolist()
        model.minimise([1] * len(pods), [model.has_moved(pod) for pod in pods])


def found(
    problem: Problem, state: Callable[[NodeModel], None], *, placement: Arrangement | None = None, pods: Any = None
) -> tuple[Solved, list[int]]:
    """What the solver says, and where the pods are then."""
    placement = placement or Arrangement(problem)
    movable = np.flatnonzero(problem.evictable) if pods is None else np.array(pods)
    solved = solve_neighbourhood(
        cast(PreparedObjective, Statement(state)),
        placement,
        Neighbourhood(np.arange(problem.num_nodes), movable),
        work_limit=1.0,
        seconds_limit=10.0,
        seed=0,
    )
    at = placement.at.tolist()
    for pod, node in solved.changes:
        at[pod] = node
    return solved, at


def two_nodes(*sizes: int, **facts: Any) -> Problem:
    """Pods of such sizes on a node of 9; another one has room for 20."""
    return make_problem([[size] for size in sizes], [[9], [20]], [0] * len(sizes), **facts)


def wanting(term: Callable[[NodeModel], Any], weight: int = -10) -> Callable[[NodeModel], None]:
    """That a term is as large as it can be, or as small with a positive weight."""
    return lambda model: model.minimise([weight], [term(model)])


@pytest.mark.parametrize(
    ("need", "moved"),
    [
        pytest.param(4, 2, id="both make a second slot"),
        pytest.param(5, 1, id="one makes the only one, and both no other"),
        pytest.param(3, 2, id="three slots"),
        pytest.param(2, 2, id="four slots"),
        pytest.param(10, 0, id="no slot at all"),
    ],
)
def test_slots_are_those_that_are_free_once_pods_have_left(need: int, moved: int) -> None:
    """Pods of 3 and 2 take 5 of 9."""
    _, at = found(two_nodes(3, 2), wanting(lambda model: model.free_slots(0, [need])))

    assert at.count(1) == moved


@pytest.mark.parametrize(("pods", "at"), [((5, 4), [1, 0]), ((5, 5), [0, 0])])
def test_a_full_node_has_slots_once_a_pod_has_left_and_one_that_was_too_full_none(
    pods: tuple[int, int], at: list[int]
) -> None:
    assert found(two_nodes(*pods), wanting(lambda model: model.free_slots(0, [5])))[1] == at


def test_slots_are_the_least_of_all_resources_and_none_where_one_is_overdrawn() -> None:
    """The second resource has room for one slot as it is, and for two without pod 1."""
    problem = make_problem([[1, 1], [0, 2]], [[9, 5], [20, 20]], [0, 0])
    over = make_problem([[1, 1], [0, 2], [1, 9]], [[9, 5], [20, 20]], [0, 0, 0], evictable=[True, True, False])

    _, at = found(problem, wanting(lambda model: model.free_slots(0, [1, 2])))
    _, stays = found(over, wanting(lambda model: model.free_slots(0, [1, 2])))

    assert at == [0, 1]
    assert stays == [0, 0, 0]
    moved = found(over, lambda model: model.equate(model.free_slots(0, [1, 2]), model.has_moved(0)))[0]
    assert (moved.changes, moved.was_closed) == ((), True)


@pytest.mark.parametrize(
    ("need", "at"), [(4, [0, 0]), (5, [0, 1]), (6, [0, 1]), (7, [1, 0]), (8, [1, 1]), (9, [1, 1]), (10, [0, 0])]
)
def test_room_is_there_where_enough_pods_have_left(need: int, at: list[int]) -> None:
    """Pods of 3 and 2 take 5 of 9; the pod of 3 is dearer."""

    def state(model: NodeModel) -> None:
        model.minimise([-10, 1], [model.has_room([0], [need]), model.has_moved(0)])

    assert found(two_nodes(3, 2), state)[1] == at


def test_room_is_there_where_each_of_the_parts_has_it() -> None:
    problem = make_problem([[3], [2]], [[9], [9], [20]], [0, 1])

    assert found(problem, wanting(lambda model: model.has_room([0, 1], [6])))[1] == [0, 1]
    assert found(problem, wanting(lambda model: model.has_room([0, 1], [8])))[1] == [2, 2]


@pytest.mark.parametrize(("price", "at"), [(0, [1, 1]), (41, [1, 1]), (43, [0, 0])])
def test_what_is_free_counts_unless_it_is_used(price: int, at: list[int]) -> None:
    """Of 9 units that cost 10 each, pods of 3 and 2 take 5 where they move. To use the node costs its price instead."""

    def state(model: NodeModel) -> None:
        is_used = model.new_bool()
        model.minimise([price, 10], [is_used, model.free_unless(0, 0, is_used)])

    assert found(make_problem([[3], [2]], [[9], [20]], [1, 1]), state)[1] == at


@pytest.mark.parametrize(("need", "num_moved"), [(3, 1), (5, 1), (8, 2), (9, 0)])
def test_pods_outside_of_the_piece_take_of_what_is_free(need: int, num_moved: int) -> None:
    """The pod of 1 stays, so that 8 of 9 are free at most."""
    slots, room = (
        found(two_nodes(3, 2, 1), wanting(term), pods=[0, 1])[1].count(1)
        for term in (lambda model: model.free_slots(0, [need]), lambda model: model.has_room([0], [need]))
    )

    assert slots == num_moved
    assert room == (0 if need == 3 else num_moved)


def test_a_node_without_pods_is_as_free_as_it_is_large() -> None:
    """Nothing else would do, which is why the pod may still leave for another node."""
    problem = make_problem([[3]], [[9], [20], [20]], [1], pod_class=[0], allowed=[[False, True, True]])

    def state(model: NodeModel) -> None:
        is_used = model.new_bool()
        model.equate(is_used, 0)
        model.minimise([1, -10], [model.free_unless(0, 0, is_used), model.is_at(0, 2)])

    assert found(problem, state)[1] == [2]


def test_so_many_terms_are_true_or_what_requires_them_is_not() -> None:
    """Two of three pods have to have moved for it."""

    def state(weight: int) -> Callable[[NodeModel], None]:
        def require(model: NodeModel) -> None:
            is_met = model.new_bool()
            model.require([model.has_moved(pod) for pod in range(3)], 2, is_met)
            model.minimise([-weight], [is_met])

        return require

    assert found(two_nodes(1, 1, 1), state(3))[1].count(1) == 2
    assert found(two_nodes(1, 1, 1), state(1))[1].count(1) == 0


def test_equal_terms_are_true_together_and_forbidden_ones_not_both() -> None:
    def equal(model: NodeModel) -> None:
        model.equate(model.has_moved(0), model.has_moved(1))
        model.minimise([-10], [model.has_moved(0)])

    def forbidden(model: NodeModel) -> None:
        model.forbid_both(model.has_moved(0), model.has_moved(1))
        model.minimise([-10, -9], [model.has_moved(0), model.has_moved(1)])

    assert found(two_nodes(1, 1, 1), equal)[1] == [1, 1, 0]
    assert found(two_nodes(1, 1, 1), forbidden)[1] == [1, 0, 0]


@pytest.mark.parametrize(("least", "at"), [(3, [0, 0, 1]), (5, [0, 1, 1]), (6, [1, 1, 1]), (7, [0, 0, 0])])
def test_a_weighted_sum_is_large_enough_or_else(least: int, at: list[int]) -> None:
    """Pods weigh 1, 2 and 3; without enough of them it costs 10."""

    def state(model: NodeModel) -> None:
        otherwise = model.new_bool()
        model.at_least([1, 2, 3], [model.has_moved(pod) for pod in range(3)], least, unless=otherwise)
        model.minimise([10], [otherwise])

    assert found(two_nodes(1, 1, 1), state)[1] == at


@pytest.mark.parametrize(
    ("limit", "otherwise", "num_moved"),
    [
        pytest.param(6.0, 10, 0, id="no less is there"),
        pytest.param(5.9, 10, 1, id="a little too much"),
        pytest.param(4.0, 10, 1, id="one pod less"),
        pytest.param(3.0, 10, 2, id="two pods less"),
        pytest.param(3.0, 1, 0, id="it costs less to be over"),
    ],
)
def test_a_load_is_limited_unless_something_else_is_true(limit: float, otherwise: int, num_moved: int) -> None:
    """Pods of 2, and what they need has that as a common factor."""

    def state(model: NodeModel) -> None:
        is_over = model.new_bool()
        model.limit_load(0, 0, limit, unless=is_over)
        model.minimise([otherwise], [is_over])

    assert found(two_nodes(2, 2, 2), state)[1].count(1) == num_moved


def test_pods_outside_of_the_piece_count_in_its_loads() -> None:
    """The pod of 4 stays whatever happens, so that both others leave for a load of 5."""
    problem = two_nodes(4, 2, 1)

    assert found(problem, lambda model: model.limit_load(0, 0, 5.0), pods=[1, 2])[1] == [0, 1, 0]
    assert found(problem, lambda model: model.limit_load(0, 0, 4.0), pods=[1, 2])[1] == [0, 1, 1]


def test_so_many_pods_are_moved_at_most() -> None:
    def state(model: NodeModel) -> None:
        model.minimise([-10] * 3, [model.has_moved(pod) for pod in range(3)])
        model.limit_moves([0, 1], 1)

    assert found(two_nodes(1, 1, 1), state)[1].count(1) == 2


def test_where_nothing_is_allowed_nothing_is_found_by_proof() -> None:
    def state(model: NodeModel) -> None:
        model.equate(model.has_moved(0), 1)
        model.equate(model.has_moved(0), 0)

    solved, _ = found(two_nodes(1), state)

    assert (solved.changes, solved.was_closed) == ((), True)


def test_a_pod_may_be_where_it_is_allowed_and_fits_without_the_others_or_stay() -> None:
    """Node 1 is closed to pod 0, node 2 is too small for pod 1, and pod 2 was pending."""
    problem = make_problem(
        [[2], [5], [1]], [[9], [9], [4]], [0, 0, -1], pod_class=[1, 0, 0], allowed=[[True] * 3, [True, False, True]]
    )
    model = NodeModel(Arrangement(problem), Neighbourhood(np.arange(3), np.arange(3)))

    assert model.options == {0: [0, 2], 1: [0, 1], 2: [0, 1, 2, -1]}
    assert model.is_at(0, 1) is None
    assert model.is_at(0, 2) is not None


@pytest.mark.parametrize(("room", "nodes"), [(6, [0, 1, 2]), (5, [0, 2])])
def test_a_pod_may_be_where_it_fits_beside_those_that_are_not_of_the_piece(room: int, nodes: list[int]) -> None:
    """Pod 1 takes 4 of node 1 whatever the piece does, and pod 2, which is of the piece, all of node 2."""
    problem = make_problem([[2], [4], [5]], [[9], [room], [5]], [0, 1, 2])

    model = NodeModel(Arrangement(problem), Neighbourhood(np.arange(3), np.array([0, 2])))

    assert model.options[0] == nodes


def test_over_parts_a_pod_leaves_its_machine_or_goes_home() -> None:
    """Nodes 0 and 1 are of machine 0; pod 0 has moved to machine 1."""
    parts = Parts(np.full((4, 1), 9), np.arange(4)[:, None], np.array([0, 0, 1, 1]))
    problem = make_problem([[1], [1]], parts, [0, 2])
    placement = Arrangement(problem)
    placement.move(0, 2)

    model = NodeModel(placement, Neighbourhood(np.arange(4), np.arange(2)))

    assert model.options == {0: [0, 2, 3], 1: [0, 1, 2]}


def random_piece(rng: np.random.Generator) -> tuple[Problem, Ints]:
    """Five pods on four nodes, or on three machines of which two share parts, and where they are after some moves.

    Nodes may hold too much before and after these, and pods may be where their class is not allowed.
    """
    need, before = rng.integers(0, 4, (5, 2)) * [1, 2], rng.choice([-1, -1, 0, 1, 2, 3], 5)
    room = rng.integers(2, 9, (4, 2))
    shared = Parts(room, np.array([[0, -1], [1, -1], [1, 2], [3, -1]]), np.array([0, 1, 1, 2]))
    problem = make_problem(
        need,
        shared if rng.random() < 0.5 else room,
        before,
        pod_class=rng.integers(0, 2, 5),
        allowed=np.vstack((np.ones(4, bool), rng.random(4) < 0.6)),
        both_ends=rng.random(2) < 0.6,
    )
    nodes = rng.integers(0, 4, 5)
    leaves = [problem.leaves_machine(pod, nodes[[pod]])[0] for pod in range(5)]
    return problem, np.where(leaves & (rng.random(5) < 0.5), nodes, before)


def held(problem: Problem, at: Ints, *, both_ends: bool) -> Ints:
    """int64[C, R]: what pods take of parts at `at`; at both ends, what those take that had a node, there and here."""
    total = np.zeros_like(problem.part_capacity)
    for pod, (here, home) in enumerate(zip(at.tolist(), problem.assignment.tolist(), strict=True)):
        nodes = [] if both_ends and home < 0 else [here, home] if both_ends else [here]
        for part in {part for node in nodes for part in problem.parts_at(node)}:
            total[part] += problem.need[pod]
    return total


def may_be(problem: Problem, now: Ints, pod: int) -> list[int]:
    """The nodes that a pod may be on by its class and its machine: here and at home it may always be."""
    home, here = int(problem.assignment[pod]), int(now[pod])
    open_nodes = np.flatnonzero(problem.allowed[problem.pod_class[pod]]).tolist()
    if problem.parts is not None and home >= 0:
        machine = problem.parts.machine
        open_nodes = [node for node in open_nodes if machine[node] != machine[home]]
    return sorted({here, home, *open_nodes})


@pytest.mark.parametrize("seed", range(60))
def test_a_piece_is_placed_in_all_ways_for_which_there_is_room(seed: int) -> None:
    """What is overdrawn now may stay so, at both ends too where that is held."""
    rng = np.random.default_rng(seed)
    problem, now = random_piece(rng)
    pods = np.sort(rng.choice(5, 3, replace=False))

    found = ways(NodeModel(Arrangement(problem, now), Neighbourhood(np.arange(4), pods)), now)

    most = np.maximum(problem.part_capacity, held(problem, now, both_ends=False))
    most_held = np.where(problem.both_ends, np.maximum(most, held(problem, now, both_ends=True)), 10**6)
    every = itertools.product(*(may_be(problem, now, pod) if pod in pods else [now[pod]] for pod in range(5)))
    assert found == {
        after
        for after in every
        if (held(problem, np.array(after), both_ends=False) <= most).all()
        and (held(problem, np.array(after), both_ends=True) <= most_held).all()
    }


def spread(*, free: Any = None, holds_first: bool = False) -> MaxSkew:
    group = np.zeros(4, np.int64)
    return MaxSkew(group, np.array([0, 0, 1, -1]), np.array([1]), np.ones((1, 2), bool), holds_first, free=free)


@pytest.mark.parametrize(
    ("rule", "wish", "at"),
    [
        pytest.param(spread(), {0: 2}, [2, 0, 2, 3], id="into the emptier zone"),
        pytest.param(spread(), {2: 0}, [0, 0, 2, 3], id="out of it, alone"),
        pytest.param(spread(), {2: 0, 0: 2}, [2, 0, 0, 3], id="both change places"),
        pytest.param(spread(free=np.array([False, False, True, False])), {2: 0}, [0, 0, 0, 3], id="a free pod"),
        pytest.param(
            spread(free=np.array([False, False, True, False])), {2: 0, 3: 1}, [0, 0, 0, 3], id="another one after it"
        ),
        pytest.param(spread(holds_first=True), {0: 1}, [0, 0, 2, 3], id="within a full zone"),
        pytest.param(spread(holds_first=True), {0: 1, 1: 2}, [1, 2, 2, 3], id="within it, once another one has left"),
        pytest.param(spread(), {0: 1}, [1, 0, 2, 3], id="within the zone"),
    ],
)
def test_pods_that_come_to_a_zone_keep_it_even(rule: MaxSkew, wish: dict[int, int], at: list[int]) -> None:
    """Zone 0 has pods 0 and 1, zone 1 has pod 2, and pod 3 is in none. The first wish weighs most."""
    problem = make_problem([[1]] * 4, [[9]] * 4, [0, 0, 2, 3], rules=[rule])

    def state(model: NodeModel) -> None:
        for rank, (pod, node) in enumerate(wish.items()):
            model.minimise([-100 // (rank + 1)], [model.is_at(pod, node)])

    assert found(problem, state, pods=sorted(wish))[1] == at
