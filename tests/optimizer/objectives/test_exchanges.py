"""Exchanges of many machines at once: chains of any length, within limits of moves, the weightiest and cheapest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import UNLIMITED, AtMost, Limits, MakeRoom, MoveLimit, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.make_room.pending import PendingUnits
from descheduler.optimizer.objectives.make_room.relocations import Relocations
from descheduler.optimizer.order.ordering import order_moves
from descheduler.optimizer.rules import Rule
from tests.worlds.openb_arrays import make_small_openb_world


def _hosts(
    cores: list[int],
    need: list[list[int]],
    assignment: list[int],
    *,
    rules: Sequence[Rule] = (),
    cost: list[int] | None = None,
    both_ends: list[bool] | None = None,
) -> Problem:
    """Hosts of one GPU of 10 tenths each; node i is host i. Pending pods may be on the first host alone."""
    hosts = len(cores)
    capacity = [[most, UNLIMITED] for most in cores] + [[UNLIMITED, 10]] * hosts
    taken = np.column_stack((np.arange(hosts), np.arange(hosts) + hosts))
    allowed = np.array([[True] * hosts, [True] + [False] * (hosts - 1)])
    return make_problem(
        need,
        Parts(np.array(capacity), taken, np.arange(hosts)),
        assignment,
        pod_class=(np.array(assignment) == PENDING).astype(np.int64),
        allowed=allowed,
        rules=rules,
        cost=cost,
        both_ends=both_ends,
    )


def _chain(**options: object) -> Problem:
    """Each pod fits the next host alone, once the pod there has left; the last host is idle."""
    need = [[8, 10], [6, 10], [4, 10], [12, 10]]
    return _hosts([12, 8, 6, 4], need, [0, 1, 2, PENDING], **options)  # type: ignore[arg-type]


def _searched(problem: Problem, goal: MakeRoom | None = None, *, work: float = 1.0) -> Ints:
    placement, budget = Arrangement(problem), Budget(Limits(work=work))
    search = (goal or MakeRoom()).prepare(problem).annealing(placement, np.random.default_rng(0))
    assert search is not None
    search.run(budget, budget, 1.0)
    return placement.at


def _limit(most: int, *groups: int) -> MoveLimit:
    return MoveLimit(np.array(groups), np.full(max(groups) + 1, most))


def test_three_pods_move_on_by_one_host_each() -> None:
    assert _searched(_chain()).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize(
    ("limit", "at"),
    [
        pytest.param(_limit(3, 0, 0, 0, 0), [1, 2, 3, 0], id="enough moves for the chain"),
        pytest.param(_limit(2, 0, 0, 0, 0), [0, 1, 2, PENDING], id="one move short"),
        pytest.param(_limit(1, 0, 1, 2, 2), [1, 2, 3, 0], id="a limit for each pod"),
        pytest.param(_limit(1, 0, 1, 1, 2), [0, 1, 2, PENDING], id="two pods with one move"),
    ],
)
def test_limits_of_moves_hold(limit: MoveLimit, at: list[int]) -> None:
    assert _searched(_chain(rules=[limit])).tolist() == at


def test_nothing_is_moved_where_a_rule_breaks_the_chain() -> None:
    """Pods 0 and 2 would be in a domain that takes one of them, so that the middle pod has nowhere to go."""
    at_most = AtMost(np.array([0, -1, 0, -1]), np.array([0, 1, 2, 1]), np.array([1]))

    at = _searched(_chain(rules=[at_most]))

    assert at.tolist() == [0, 1, 2, PENDING]


def test_no_exchange_is_made_where_departed_pods_hold_their_room() -> None:
    assert _searched(_chain(both_ends=[True, True])).tolist() == [0, 1, 2, PENDING]


def test_the_weightiest_pending_pod_gets_the_room() -> None:
    problem = _hosts([8, 8], [[8, 10], [8, 10], [8, 10]], [0, PENDING, PENDING])

    at = _searched(problem, MakeRoom(weight=np.array([1, 2, 5])))

    assert at.tolist() == [1, PENDING, 0]


def test_the_cheapest_pod_departs() -> None:
    """Either pod of the first host leaves enough for the pending one."""
    problem = _hosts([8, 8], [[4, 5], [4, 5], [4, 5]], [0, 0, PENDING], cost=[7, 3, 1])

    assert _searched(problem).tolist() == [0, 1, 0]


def test_pods_of_a_gang_wait() -> None:
    problem = _chain()

    at = _searched(problem, MakeRoom(gang=np.array([-1, -1, -1, 4])))

    assert at.tolist() == problem.assignment.tolist()


def test_a_search_that_is_over_changes_nothing() -> None:
    assert _searched(_chain(), work=1e-9).tolist() == [0, 1, 2, PENDING]


@pytest.mark.long
def test_a_search_in_short_steps_finds_what_one_in_a_long_step_does() -> None:
    problem = make_small_openb_world(hosts=40, load=1.0, seed=0).problem
    placement, whole = Arrangement(problem), Budget(Limits(work=1.0))
    search = MakeRoom().prepare(problem).annealing(placement, np.random.default_rng(0))
    assert search is not None

    for _ in range(300):
        search.run(whole.part(Limits(work=0.003)), whole, 1.0)

    assert (placement.at == PENDING).sum() <= (_searched(problem) == PENDING).sum() + 2


@pytest.mark.long
@pytest.mark.parametrize(("hosts", "load", "seed"), [(20, 1.0, 2), (40, 0.9, 2), (80, 0.95, 1)])
def test_exchanges_place_more_than_relocations_alone(hosts: int, load: float, seed: int) -> None:
    problem = make_small_openb_world(hosts=hosts, load=load, seed=seed).problem
    placement, budget = Arrangement(problem), Budget(Limits(work=3.0))
    nobody = np.full(problem.num_pods, -1)
    pending = PendingUnits(problem, np.ones(problem.num_pods, np.int64), nobody)
    assert problem.parts is not None
    Relocations(pending, problem.parts, placement, np.random.default_rng(seed)).run(budget, budget, 1.0)

    at = _searched(problem, work=3.0)

    assert (at == PENDING).sum() < (placement.at == PENDING).sum()
    assert not (problem.usage(at) > np.maximum(problem.part_capacity, problem.usage(problem.assignment))).any()
    assert not order_moves(problem, at).blocked


@pytest.mark.long
def test_same_seed_and_work_give_the_same_exchanges() -> None:
    problem = make_small_openb_world(hosts=20, load=1.0, seed=2).problem

    first, second = (_searched(problem, work=1.0) for _ in range(2))

    assert first.tolist() == second.tolist()
