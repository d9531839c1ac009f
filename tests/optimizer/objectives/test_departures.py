"""What machines have left where pods depart, and what is best put there."""

from __future__ import annotations

import itertools

import numpy as np

from descheduler.optimizer import UNLIMITED, MakeRoom, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.objectives.make_room.departures import DepartureChoices, departures_of
from descheduler.optimizer.objectives.make_room.fillings import fill
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds
from descheduler.optimizer.rules import Rule

PENDING = -1


def parts_of(problem: Problem) -> Parts:
    assert problem.parts is not None
    return problem.parts


def hosts(need: list[list[int]], at: list[int], *, rules: tuple[Rule, ...] = ()) -> Problem:
    """Hosts 0 and 1 of 12 cores with two GPUs of 10 tenths, nodes 0 to 3, and host 2 of 8 cores and one GPU, node 4."""
    capacity = [[12, UNLIMITED], [12, UNLIMITED], [8, UNLIMITED]] + [[UNLIMITED, 10]] * 5
    taken = np.array([[0, 3], [0, 4], [1, 5], [1, 6], [2, 7]])
    return make_problem(need, Parts(np.array(capacity), taken, np.array([0, 0, 1, 1, 2])), at, rules=rules)


def choices_of(problem: Problem) -> tuple[list[DepartureChoices], PodKinds, Arrangement]:
    kinds, placement = PodKinds(problem, np.arange(problem.num_pods)), Arrangement(problem)
    placed = np.flatnonzero(problem.assignment >= 0)
    return departures_of(placement, parts_of(problem), kinds, placed), kinds, placement


def test_none_each_and_every_pair_of_the_pods_of_a_machine_may_depart() -> None:
    problem = hosts([[1, 2], [2, 3], [3, 4], [4, 5], [5, 6]], [0, 0, 1, 2, 4])
    choices, _, _ = choices_of(problem)

    found = {
        (machine, tuple(sorted(pod for pod in pods if pod >= 0)))
        for one in choices
        for machine, pods in zip(one.machine.tolist(), one.pods.tolist(), strict=True)
    }

    of_first = {(0, some) for number in range(3) for some in itertools.combinations(range(3), number)}
    assert found == of_first | {(1, ()), (1, (3,)), (2, ()), (2, (4,))}
    assert sorted(len(one.machine) for one in choices) == [2, 9]


def test_parts_and_nodes_have_what_is_left_once_the_pods_have_departed() -> None:
    problem = hosts([[1, 2], [2, 3], [3, 4], [4, 5], [5, 6]], [0, 0, 1, 2, 4])
    choices, kinds, placement = choices_of(problem)

    for one in choices:
        free = one.free(one.left)
        for row, pods in enumerate(one.pods.tolist()):
            gone = [pod for pod in pods if pod >= 0]
            for pod in gone:
                placement.move(pod, PENDING)
            nodes = one.nodes[row]
            limited = [placement.free[resource, nodes] for resource in range(2)]
            assert free[:, row].tolist() == np.array(limited).tolist()
            fits = [
                any(all(kinds.need[kind] <= placement.free[:, node]) for node in nodes.tolist())
                for kind in range(len(kinds))
            ]
            assert one.fits[row].tolist() == fits
            parts = sorted({part for node in nodes.tolist() for part in problem.parts_at(node)})
            left = (problem.part_capacity - placement.usage.T)[parts]
            own = problem.part_capacity[parts] < UNLIMITED
            assert one.rest[:, row].tolist() == [int(left[own[:, r], r].sum()) for r in range(2)]
            placement.reset(problem.assignment)


def test_of_pods_that_are_alike_two_are_looked_at() -> None:
    """Four equal pods share a GPU, and a fifth is on the other one, with another rest."""
    problem = hosts([[1, 2]] * 5, [0, 0, 0, 0, 1])
    choices, _, _ = choices_of(problem)

    (first,) = [one for one in choices if 0 in one.machine.tolist()]

    assert {pod for pods in first.pods.tolist() for pod in pods if pod >= 0} == {0, 1, 4}


def filled(problem: Problem, value: list[float]) -> list[tuple[float, list[int], list[int]]]:
    """What is put on each machine where no pod departs: its value, the pods' kinds and their nodes."""
    choices, kinds, _ = choices_of(problem)
    found = {}
    for one in choices:
        chosen = np.flatnonzero((one.pods == PENDING).all(axis=1))
        fillings = fill(one, chosen, kinds, np.arange(len(kinds)), np.array(value))
        for row, machine in enumerate(one.machine[chosen].tolist()):
            number = int((fillings.kinds[row] >= 0).sum())
            assert (fillings.kinds[row][number:] == PENDING).all()
            found[machine] = (
                float(fillings.value[row]),
                fillings.kinds[row][:number].tolist(),
                fillings.nodes[row][:number].tolist(),
            )
    return [found[machine] for machine in sorted(found)]


def test_machines_are_filled_with_what_is_dearest_or_dearest_for_its_share() -> None:
    """Kinds: pods of 6 cores and 5 tenths for 5 each, pods of 12 cores and a GPU for 9. Two of 6 are worth more."""
    problem = hosts([[6, 5], [12, 10]], [PENDING, PENDING])

    (first, second, third) = filled(problem, [5.0, 9.0])

    assert first[:2] == second[:2] == (10.0, [0, 0])
    assert third[:2] == (5.0, [0])
    assert (set(first[2]), set(second[2]), set(third[2])) == ({0}, {2}, {4})
    assert filled(problem, [4.0, 9.0])[0][:2] == (9.0, [1])


def test_what_was_put_on_a_machine_takes_its_room() -> None:
    """A host takes three pods of 4 cores and 6 tenths by its cores, and two by its GPUs."""
    problem = hosts([[4, 6]], [PENDING])

    assert [(value, len(kinds)) for value, kinds, _ in filled(problem, [1.0])] == [(2.0, 2), (2.0, 2), (1.0, 1)]


def test_no_more_than_eight_pods_are_put_on_a_machine() -> None:
    problem = hosts([[1, 1]], [PENDING])

    assert [value for value, _, _ in filled(problem, [1.0])] == [8.0, 8.0, 8.0]


def test_pods_go_to_the_fullest_node_of_a_machine_that_fits_them() -> None:
    """GPU 0 has 4 tenths left, GPU 1 has 10, and the pod takes 3."""
    problem = hosts([[1, 6], [1, 3]], [0, PENDING])

    (_, kinds, nodes) = filled(problem, [1.0, 0.0])[0]

    assert (kinds[0], nodes[0]) == (0, 0)


def test_a_pod_that_just_fits_one_node_of_a_machine_goes_there() -> None:
    """GPU 0 has 2 tenths left, GPU 1 has 10, of which the pod takes all."""
    problem = hosts([[1, 8], [1, 10]], [0, PENDING])

    (value, kinds, nodes) = filled(problem, [0.0, 1.0])[0]

    assert (value, kinds[0], nodes[0]) == (1.0, 1, 1)


def test_a_search_over_parts_needs_pods_that_may_move_and_such_that_are_pending_alone() -> None:
    """Without them it looks for relocations, which there are none of."""
    whole = Budget(Limits(work=0.2))
    for at, gang in (([0, 4, 2], None), ([PENDING] * 3, None), ([0, 4, PENDING], [-1, -1, 3])):
        problem = hosts([[8, 10]] * 3, at)
        placement = Arrangement(problem)
        goal = MakeRoom(gang=None if gang is None else np.array(gang)).prepare(problem)
        search = goal.annealing(placement, np.random.default_rng(0))
        assert search is not None

        search.run(whole, whole, 1.0)

        assert placement.at.tolist() == at
