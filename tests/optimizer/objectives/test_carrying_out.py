"""How exchanges are carried out: one move after the other, each to a place that is open by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MoveLimit, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objectives.make_room.carrying_out import carry_out
from descheduler.optimizer.objectives.make_room.exchanges import Chosen, Exchange
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds
from descheduler.optimizer.order.ordering import order_moves
from descheduler.optimizer.rules import Rule

PENDING = -1
SMALL, MIDDLE, LARGE = 0, 1, 2
"""Kinds of pods, by their size: 1, 2 and 3."""

Places = tuple[tuple[int, int], ...]


def nodes_with(room: Sequence[int], pods: Sequence[tuple[int, int]], *, rules: Sequence[Rule] = ()) -> Problem:
    """Nodes with so much room for pods of (size, node)."""
    return make_problem(
        [[size] for size, _ in pods], [[each] for each in room], [node for _, node in pods], rules=rules
    )


def carried_out(
    problem: Problem,
    *exchanges: Exchange,
    placed: Sequence[tuple[int, int, int]] = (),
    handed: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    waiting: Mapping[tuple[int, int], Sequence[int]] | None = None,
) -> list[int]:
    """Where the pods are then; some order of moves leads there."""
    placement, kinds = Arrangement(problem), PodKinds(problem, np.arange(problem.num_pods))
    carry_out(placement, Chosen(exchanges, placed, handed or {}), kinds, waiting or {})
    assert order_moves(problem, placement.at).blocked == ()
    return [int(node) for node in placement.at]


def departs(machine: int, *pods: int, places: Places = ()) -> Exchange:
    return Exchange(machine, pods, places)


def offers(machine: int, *places: tuple[int, int]) -> Exchange:
    return Exchange(machine, (), places)


def test_a_pod_goes_to_a_place_of_its_kind() -> None:
    problem = nodes_with([1, 3, 1], [(1, 0), (3, PENDING)])

    at = carried_out(problem, departs(0, 0), offers(1, (1, 1)), offers(2, (SMALL, 2)))

    assert at == [2, PENDING]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_pods_depart_in_an_order_in_which_places_open(order: tuple[int, int, int]) -> None:
    """Each node has room for one pod; only the last one is free. The pending pod comes last."""
    problem = nodes_with([1, 1, 1, 1], [(1, 0), (1, 1), (1, 2), (1, PENDING)])
    chain = [departs(node, node, places=((SMALL, node),)) for node in order]

    at = carried_out(problem, *chain, offers(3, (SMALL, 3)), placed=[(SMALL, 1, 1)], waiting={(SMALL, 1): [3]})

    assert sorted(at) == [0, 1, 2, 3]


def test_a_place_that_is_already_free_on_a_machine_is_taken_before_its_pods_depart() -> None:
    """Node 0 has room for pod 1 beside pod 0, which departs for the place of pod 1."""
    problem = nodes_with([4, 3], [(3, 0), (1, 1)])

    at = carried_out(problem, departs(0, 0, places=((SMALL, 0),)), departs(1, 1, places=((1, 1),)))

    assert at == [1, 0]


def test_pods_of_a_machine_depart_together_or_not_at_all() -> None:
    problem = nodes_with([2, 1], [(1, 0), (1, 0)])

    assert carried_out(problem, departs(0, 0, 1), offers(1, (SMALL, 1))) == [0, 0]


def test_places_that_were_given_back_are_there_for_others() -> None:
    """Pods 0 and 1 have one place between them, which pod 2 can do with alone."""
    problem = nodes_with([2, 1, 1], [(1, 0), (1, 0), (1, 2)])

    assert carried_out(problem, departs(0, 0, 1), departs(2, 2), offers(1, (SMALL, 1))) == [0, 0, 1]


def test_what_is_handed_on_is_given_back_with_the_place() -> None:
    """The large place may be handed to one small pod: pods 0 and 1 would need two, so pod 2 has it."""
    problem = nodes_with([4, 3, 2], [(2, 0), (2, 0), (2, 2), (3, PENDING)])

    at = carried_out(problem, departs(0, 0, 1), departs(2, 2), offers(1, (1, 1)), handed={1: [(SMALL, 1)]})

    assert at == [0, 0, 1, PENDING]


def test_places_go_to_smaller_pods_only_as_often_as_they_are_handed() -> None:
    """Kinds of sizes 1, 2 and 3. Of two large places one is handed to a middle pod, and from there to a small one."""
    problem = nodes_with([1, 1, 3, 3], [(1, 0), (1, 1), (2, PENDING), (3, PENDING), (3, PENDING)])
    large = offers(2, (LARGE, 2), (LARGE, 3))

    at = carried_out(
        problem,
        departs(0, 0),
        large,
        placed=[(LARGE, 1, 2)],
        handed={LARGE: [(MIDDLE, 1)], MIDDLE: [(SMALL, 1)]},
        waiting={(LARGE, 1): [3, 4]},
    )

    assert at == [2, 1, PENDING, 3, PENDING]


def test_pods_that_wait_for_each_other_go_where_nobody_planned() -> None:
    """Pods 0 and 1 were to change places. Node 2, which the pending pod was to have, has room for one of them."""
    problem = nodes_with([2, 2, 3], [(2, 0), (2, 1), (3, PENDING)])
    circle = [departs(0, 0, places=((0, 0),)), departs(1, 1, places=((0, 1),))]

    at = carried_out(problem, *circle, offers(2, (1, 2)), placed=[(1, 1, 1)], waiting={(1, 1): [2]})

    assert at == [2, 0, PENDING]


def test_pods_that_wait_for_each_other_stay_where_no_node_is_open() -> None:
    problem = nodes_with([2, 2], [(2, 0), (2, 1)])

    assert carried_out(problem, departs(0, 0, places=((0, 0),)), departs(1, 1, places=((0, 1),))) == [0, 1]


def test_the_weightiest_pending_pods_are_placed_first_and_no_more_than_chosen() -> None:
    problem = nodes_with([1, 1, 1], [(1, PENDING), (1, PENDING), (1, PENDING), (1, PENDING)])
    places = offers(0, (SMALL, 0), (SMALL, 1), (SMALL, 2))
    waiting = {(SMALL, 1): [0, 1], (SMALL, 3): [2, 3]}

    at = carried_out(problem, places, placed=[(SMALL, 1, 1), (SMALL, 3, 1)], waiting=waiting)

    assert at == [1, PENDING, 0, PENDING]


def test_moves_beyond_a_limit_are_not_made() -> None:
    limit = MoveLimit(np.array([0, 0, 0]), np.array([1]))
    problem = nodes_with([1, 1, 2], [(1, 0), (1, 1), (1, PENDING)], rules=(limit,))

    at = carried_out(problem, departs(0, 0), departs(1, 1), offers(2, (SMALL, 2), (SMALL, 2)))

    assert at == [2, 1, PENDING]


def test_a_pod_that_a_rule_keeps_from_a_place_takes_the_next_one() -> None:
    apart = AtMost(np.array([0, 0]), np.array([0, 1, 1, 2]), np.array([1]))
    problem = nodes_with([1, 1, 1, 1], [(1, 0), (1, 1)], rules=(apart,))

    at = carried_out(problem, departs(0, 0), offers(2, (SMALL, 2), (SMALL, 3)))

    assert at == [3, 1]
