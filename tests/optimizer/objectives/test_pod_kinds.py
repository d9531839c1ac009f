"""Which kinds of pods fit where others do."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import Problem, make_problem
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds

SMALL, MIDDLE, LARGE = 0, 1, 2
"""Kinds of the pods 0 to 5: two of each, by their size."""


def sized() -> Problem:
    return make_problem([[1], [1], [2], [2], [3], [3]], [[9]] * 9, [0, 0, 0, -1, -1, -1])


def kinds_of(needs: list[list[int]], pod_class: list[int], allowed: list[list[bool]]) -> PodKinds:
    problem = make_problem(
        needs, [[9] * len(needs[0])] * len(allowed[0]), [0] * len(needs), pod_class=pod_class, allowed=allowed
    )
    return PodKinds(problem, np.arange(len(needs)))


def test_a_place_takes_pods_that_need_no_more_and_may_be_everywhere_it_can_be() -> None:
    """Pod 2 may be on node 0 alone, and pod 3 needs more of one resource and less of the other."""
    kinds = kinds_of([[1, 1], [2, 2], [1, 1], [3, 0]], [0, 0, 1, 0], [[True, True], [True, False]])
    small, large, narrow, other = (int(kinds.of[pod]) for pod in range(4))

    can_take = {(first, second) for first, second in np.argwhere(kinds.can_take).tolist()}

    assert can_take == {(large, small), (narrow, small)}
    assert other not in {kind for pair in can_take for kind in pair}


def test_what_follows_from_others_is_no_handover_of_its_own() -> None:
    kinds = PodKinds(sized(), np.arange(6))

    assert sorted(kinds.handovers()) == [(MIDDLE, SMALL), (LARGE, MIDDLE)]
    assert kinds.largest_first() == [LARGE, MIDDLE, SMALL]
    assert len(kinds) == 3


def test_pods_that_were_not_asked_about_are_of_no_kind_and_equal_classes_are_one() -> None:
    kinds = kinds_of([[1], [1], [2]], [0, 1, 0], [[True, True], [True, True]])
    some = PodKinds(sized(), np.array([0, 4]))

    assert kinds.of[0] == kinds.of[1] != kinds.of[2]
    assert some.of.tolist() == [0, -1, -1, -1, 1, -1]


@pytest.mark.parametrize(
    ("free", "fits"),
    [
        pytest.param([[3.0, 3.0]], [True, True], id="room on both nodes"),
        pytest.param([[3.0, 0.0]], [True, False], id="room where one may not be"),
        pytest.param([[0.0, 2.0]], [False, True], id="room for the smaller one alone"),
        pytest.param([[2.0, 1.0]], [False, False], id="no room"),
    ],
)
def test_a_kind_fits_where_one_of_its_nodes_has_room(free: list[list[float]], fits: list[bool]) -> None:
    """Pods of 3 may be on node 0 alone, pods of 2 on node 1 alone."""
    kinds = kinds_of([[3], [2]], [0, 1], [[True, False], [False, True]])
    order = kinds.of[:2]

    found = kinds.fit(order, np.array([free]), np.array([[0, 1]]), np.ones((1, 2), bool))

    assert found[0].tolist() == fits


def test_what_need_not_be_looked_at_does_not_fit() -> None:
    kinds = kinds_of([[3]], [0], [[True, True]])

    assert kinds.fit(np.array([0]), np.full((1, 1, 2), 9.0), np.array([[0, 1]]), np.zeros((1, 1), bool)).tolist() == [
        [False]
    ]
