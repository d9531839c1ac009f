"""Relocations one by one: when they end, no single move makes room for a pending pod on the machine that it leaves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import UNLIMITED, Limits, MakeRoom, MoveLimit, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.make_room.pending import PendingUnits
from descheduler.optimizer.objectives.make_room.relocations import Relocations
from tests.optimizer.tiny import is_feasible, random_parts_problem

PENDING = -1


def relocated(
    problem: Problem,
    *,
    gang: list[int] | None = None,
    weight: list[int] | None = None,
    work: float = 1.0,
    until: float = 1.0,
    seed: int = 0,
) -> Arrangement:
    """The placement after relocations until none gains enough."""
    pods = problem.num_pods
    units = PendingUnits(
        problem,
        np.ones(pods, np.int64) if weight is None else np.array(weight),
        np.full(pods, -1) if gang is None else np.array(gang),
    )
    placement, budget = Arrangement(problem), Budget(Limits(work=work))
    assert problem.parts is not None
    Relocations(units, problem.parts, placement, np.random.default_rng(seed)).run(budget, budget, until)
    return placement


def hosts(need: list[list[int]], at: list[int], **facts: object) -> Problem:
    """Hosts of 8 cores with two GPUs of 10 tenths: nodes 2h and 2h + 1 are those of host h. Pods of class 1 may be on
    host 0 alone."""
    capacity = [[8, UNLIMITED]] * 3 + [[UNLIMITED, 10]] * 6
    taken = np.array([[node // 2, 3 + node] for node in range(6)])
    allowed = np.array([[True] * 6, [True, True] + [False] * 4])
    parts = Parts(np.array(capacity), taken, np.repeat(np.arange(3), 2))
    pod_class = (np.array(at) == PENDING).astype(np.int64)
    return make_problem(need, parts, at, pod_class=pod_class, allowed=allowed, **facts)  # type: ignore[arg-type]


def test_a_pod_makes_room_by_going_to_the_fullest_place_that_fits_it() -> None:
    """Both GPUs of host 0 are half used; host 1 has one that is half used, and host 2 idle ones."""
    placement = relocated(hosts([[1, 5], [1, 5], [1, 5], [1, 10]], [0, 1, 2, PENDING]))

    assert sorted(placement.at[:2].tolist()) in ([0, 2], [1, 2])
    assert placement.at[3] in (0, 1)
    assert placement.at[3] != placement.at[:2][placement.at[:2] < 2][0]


def test_nothing_moves_within_a_machine_or_where_no_other_has_room() -> None:
    """The GPUs of host 0 are used for 4 and 6 tenths: one would be idle if both pods shared the other one."""
    full = hosts([[1, 4], [1, 6], [1, 7], [1, 7], [1, 7], [1, 7], [1, 10]], [0, 1, 2, 3, 4, 5, PENDING])

    assert (relocated(full).at == full.assignment).all()


def test_neither_pinned_pods_nor_those_beyond_a_limit_move() -> None:
    need, at = [[1, 5], [1, 5], [1, 10]], [0, 1, PENDING]
    pinned = hosts(need, at, evictable=[False, False, True])
    limited = hosts(need, at, rules=[MoveLimit(np.zeros(3, np.int64), np.array([0]))])
    one = hosts(need, at, rules=[MoveLimit(np.zeros(3, np.int64), np.array([1]))])

    assert (relocated(pinned).at == pinned.assignment).all()
    assert (relocated(limited).at == limited.assignment).all()
    assert int((relocated(one).at[:2] >= 2).sum()) == 1


def test_pods_of_gangs_and_searches_that_are_over_make_no_move() -> None:
    problem = hosts([[1, 5], [1, 5], [1, 10]], [0, 1, PENDING])

    assert (relocated(problem, gang=[-1, -1, 4]).at == problem.assignment).all()
    assert (relocated(problem, gang=[-1, -1, 0]).at == problem.assignment).all()
    assert (relocated(problem, work=0.0).at == problem.assignment).all()


def test_no_move_is_made_from_the_share_of_the_whole_on() -> None:
    """Pod 0 of host 0, which comes first with its free GPUs, makes room for two by leaving for host 1."""
    problem = hosts(
        [[8, 1], [0, 10], [0, 9], [0, 10], [0, 10], [4, 5], [4, 5]],
        [0, 2, 3, 4, 5, PENDING, PENDING],
        evictable=[True, False, False, False, False, True, True],
    )

    assert (relocated(problem, until=0.0).at == problem.assignment).all()
    assert relocated(problem, until=1e-9).at[0] == 3


@pytest.mark.parametrize(
    "waiting",
    [
        pytest.param([[1, 10], [4, 1]], id="an eighth and all, half and a tenth"),
        pytest.param([[8, 1], [1, 9]], id="all and a tenth, an eighth and nine tenths"),
    ],
)
def test_pods_land_first_that_take_the_least_of_what_the_machine_has_left(waiting: list[list[int]]) -> None:
    """Pod 0 leaves 8 cores of host 0, whose GPUs have 10 tenths together; pods 2 and 3 do not fit beside each other."""
    problem = hosts([[8, 1], [0, 10], *waiting], [0, 1, PENDING, PENDING], evictable=[True, False, True, True])

    assert relocated(problem).at[2:].tolist() == [PENDING, 0]


def test_several_pending_pods_land_where_one_has_left() -> None:
    """The large pod leaves 8 cores, which two pending ones take."""
    problem = hosts([[8, 1], [4, 1], [4, 1], [8, 1]], [0, PENDING, PENDING, 4])

    assert relocated(problem).at.tolist()[0] in (2, 3)
    assert (relocated(problem).at[1:3] <= 1).all()
    assert (relocated(problem).at[1:3] >= 0).all()


def test_a_place_of_a_pending_pod_is_given_to_what_makes_room_for_two() -> None:
    """Pod 2 was pending and is on host 1, in the only place for the light pod of host 2, whose own one the large pod
    could take: then both others land on host 0."""
    problem = hosts([[8, 1], [2, 1], [7, 1], [4, 1], [4, 1], [6, 1]], [0, 4, 2, PENDING, PENDING, 5])

    at = relocated(problem).at

    assert int((at == PENDING).sum()) in (0, 2)
    assert is_feasible(problem, at)


def single_relocations(placement: Arrangement) -> list[tuple[int, int, int]]:
    """(pod, node, pending pod) of moves of pods at home after which a pending pod may go to the machine they leave."""
    problem = placement.problem
    assert problem.parts is not None
    machine, found = problem.parts.machine, []
    home: Ints = np.flatnonzero(problem.evictable & (problem.assignment >= 0) & (placement.at == problem.assignment))
    for pod in home.tolist():
        left = int(placement.at[pod])
        for node in range(problem.num_nodes):
            if machine[node] == machine[left] or not placement.is_open(pod, node):
                continue
            placement.move(pod, node)
            for waiting in np.flatnonzero(placement.at == PENDING).tolist():
                for place in np.flatnonzero(machine == machine[left]).tolist():
                    if placement.is_open(waiting, place):
                        found.append((pod, node, waiting))
            placement.move(pod, left)
    return found


@pytest.mark.parametrize("seeds", [range(10), range(10, 20), range(20, 30)], ids=["first", "second", "third"])
def test_hardly_any_single_relocation_is_left_when_none_gains_enough(seeds: range) -> None:
    """Of ten clusters one at most: a place that was looked for in vain once is not looked for again."""
    num_left = 0
    for seed in seeds:
        made = random_parts_problem(np.random.default_rng(seed), rules=False, pending=2)
        problem = dataclasses.replace(made, both_ends=np.zeros(2, bool))
        goal = MakeRoom().prepare(problem)

        placement = relocated(problem, seed=seed)

        assert is_feasible(problem, placement.at)
        assert goal.value(placement.at)[0] <= goal.value(problem.assignment)[0]
        num_left += bool(single_relocations(placement))
    assert num_left <= 1
