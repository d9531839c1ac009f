"""A problem refuses arrays that do not go together, and counts what pods take of nodes and of their parts."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Parts, Problem, Together, make_problem
from descheduler.optimizer.rules import Rule

PLAIN = make_problem([[1, 2], [3, 4]], [[9, 9]] * 3, [0, -1])
"""Two pods, of which the second is pending, and three nodes."""

PARTS = make_problem(
    [[1, 2], [3, 4], [5, 6]],
    Parts(np.full((4, 2), 9), np.array([[0, -1], [1, -1], [0, 1], [2, 3]]), np.array([0, 0, 0, 1])),
    [2, -1, 3],
)
"""Node 2 is parts 0 and 1 of machine 0, whose nodes 0 and 1 are one part each; node 3 is all of machine 1."""


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        pytest.param({"capacity": np.ones((3, 1), int)}, r"capacity: shape \(3, 1\), expected \(3, 2\)", id="capacity"),
        pytest.param({"assignment": ints(0)}, r"assignment: shape \(1,\), expected \(2,\)", id="assignment"),
        pytest.param({"evictable": np.ones(3, bool)}, r"evictable: shape \(3,\), expected \(2,\)", id="evictable"),
        pytest.param({"cost": ints(1, 1, 1)}, r"cost: shape \(3,\), expected \(2,\)", id="cost"),
        pytest.param({"pod_class": ints()}, r"pod_class: shape \(0,\), expected \(2,\)", id="class"),
        pytest.param({"allowed": np.ones((1, 2), bool)}, r"allowed: shape \(1, 2\), expected", id="allowed nodes"),
        pytest.param({"both_ends": np.ones(1, bool)}, r"both_ends: shape \(1,\), expected \(2,\)", id="both ends"),
        pytest.param({"assignment": ints(-2, 0)}, "assignment: values from -2 to 0, expected -1", id="below pending"),
        pytest.param({"assignment": ints(0, 3)}, "assignment: values from 0 to 3, .* below 3", id="no such node"),
        pytest.param({"pod_class": ints(-1, 0)}, "pod_class: values from -1 to 0", id="class below 0"),
        pytest.param({"pod_class": ints(0, 1)}, "pod_class: values from 0 to 1, expected 0 .* below 1", id="no class"),
        pytest.param({"need": np.array([[0, 0], [0, -1]])}, "need: values from -1 to 0", id="need below 0"),
        pytest.param({"need": np.array([[0, 0], [0, 2**53]])}, "need: values from 0 to 9007199254740992", id="need"),
        pytest.param({"cost": ints(-1, 0)}, "cost: values from -1 to 0", id="cost below 0"),
        pytest.param({"cost": ints(0, 2**53)}, "cost: values from 0 to 9007199254740992", id="high cost"),
        pytest.param({"need": np.full((2, 2), 2**52)}, "sums of need: values from", id="need in total"),
        pytest.param({"parts": PARTS.parts}, r"parts.machine: shape \(4,\), expected \(3,\)", id="parts of more nodes"),
    ],
)
def test_arrays_of_other_shapes_or_values_are_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        dataclasses.replace(PLAIN, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"assignment": ints(-1, 2)}, id="pending, and on the last node"),
        pytest.param({"need": np.array([[0, 2**53 - 1], [0, 0]])}, id="needs that are still exact"),
        pytest.param({"cost": ints(0, 2**53 - 1)}, id="costs that are still exact"),
    ],
)
def test_the_least_and_the_largest_values_are_taken(changes: dict[str, Any]) -> None:
    assert isinstance(dataclasses.replace(PLAIN, **changes), Problem)


def test_a_cluster_without_pods_is_a_problem() -> None:
    problem = make_problem(np.zeros((0, 2), int), [[9, 9]], [])

    assert (problem.num_pods, problem.num_nodes, problem.num_resources) == (0, 1, 2)


GROUP, NODES = ints(0, -1), ints(0, 1, -1)
SKEW = MaxSkew(GROUP, NODES, ints(1), np.ones((1, 2), bool))


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        pytest.param(AtMost(ints(0), NODES, ints(1)), r"AtMost.group: shape \(1,\), expected \(2,\)", id="group"),
        pytest.param(AtMost(GROUP, ints(0), ints(1)), r"AtMost.domain: shape \(1,\), expected \(3,\)", id="domain"),
        pytest.param(AtMost(ints(1, 0), NODES, ints(1)), "AtMost.group: values from 0 to 1", id="no such group"),
        pytest.param(AtMost(ints(-2, 0), NODES, ints(1)), "AtMost.group: values from -2 to 0", id="below no group"),
        pytest.param(MoveLimit(ints(1, 0), ints(1)), "MoveLimit.group: values from 0 to 1", id="limit of no group"),
        pytest.param(MoveLimit(ints(0, 0, 0), ints(1)), r"MoveLimit.group: shape \(3,\)", id="limit of more pods"),
        pytest.param(
            dataclasses.replace(SKEW, skew=ints(1, 1)), r"MaxSkew.there: shape \(1, 2\), expected \(2,\)", id="skew"
        ),
        pytest.param(
            dataclasses.replace(SKEW, others=np.ones((1, 3), int)), r"MaxSkew.others: shape \(1, 3\)", id="others"
        ),
        pytest.param(
            dataclasses.replace(SKEW, free=np.ones(3, bool)), r"MaxSkew.free: shape \(3,\), expected \(2,\)", id="free"
        ),
        pytest.param(dataclasses.replace(SKEW, domain=ints(0, 1, 2)), "MaxSkew.domain: values from 0 to 2", id="zone"),
        pytest.param(dataclasses.replace(SKEW, domain=ints(0, 1, -2)), "MaxSkew.domain: values from -2", id="no zone"),
        pytest.param(dataclasses.replace(SKEW, group=ints(0, 1)), "MaxSkew.group: values from 0 to 1", id="spread"),
        pytest.param(MinDomains(ints(0, 1), NODES, ints(2)), "MinDomains.group: values from 0 to 1", id="cover"),
        pytest.param(
            Together(GROUP, NODES, np.array([[0, 1, 2]])), r"Together.pairs: shape \(1, 3\), expected", id="pairs"
        ),
    ],
)
def test_rules_of_other_shapes_or_values_are_named(rule: Rule, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        dataclasses.replace(PLAIN, rules=(rule,))


def test_rules_that_go_together_with_the_problem_are_kept() -> None:
    others = dataclasses.replace(SKEW, others=np.zeros((1, 2), int), free=np.zeros(2, bool))
    limit = MoveLimit(GROUP, ints(1))

    problem = dataclasses.replace(PLAIN, rules=(SKEW, others, limit, Together(GROUP, NODES, np.array([[0, 1]]))))

    assert problem.move_limits == [limit]


def test_what_is_not_said_is_free_to_move_at_the_cost_of_one() -> None:
    assert PLAIN.evictable.tolist() == [True, True]
    assert PLAIN.cost.tolist() == [1, 1]
    assert PLAIN.allowed[PLAIN.pod_class].all()
    assert not PLAIN.both_ends.any()
    assert PLAIN.rules == ()


def test_a_pending_pod_counts_as_evictable_whatever_is_said() -> None:
    problem = make_problem([[1]] * 3, [[9]], [0, -1, 0], evictable=[False, False, True])

    assert problem.evictable.tolist() == [False, True, True]


def test_a_pod_takes_from_each_part_of_its_node() -> None:
    assert [PARTS.parts_at(node) for node in (-1, 0, 2, 3)] == [[], [0], [0, 1], [2, 3]]
    assert PARTS.parts_of(ints(2, 0, -1)) == [0, 1]
    assert [PARTS.takes(ints(0, 1, 2, 3, -1), part).tolist() for part in (0, 3)] == [
        [True, False, True, False, False],
        [False, False, False, True, False],
    ]
    assert PARTS.usage(PARTS.assignment).tolist() == [[1, 2], [1, 2], [5, 6], [5, 6]]
    assert PARTS.capacity.tolist() == [[9, 9]] * 4


def test_a_node_of_its_own_is_the_only_part_of_it() -> None:
    assert [PLAIN.parts_at(node) for node in (-1, 0, 2)] == [[], [0], [2]]
    assert PLAIN.parts_of(ints(2, 0, 2, -1)) == [0, 2]
    assert PLAIN.takes(ints(0, 1, -1), 0).tolist() == [True, False, False]
    assert PLAIN.usage(ints(0, 0)).tolist() == [[4, 6], [0, 0], [0, 0]]
    assert [(nodes.tolist(), has) for nodes, has in PLAIN.parts_by_rank(ints(2, 0))] == [([2, 0], None)]


def test_parts_are_listed_by_rank_with_the_nodes_that_have_one() -> None:
    by_rank = PARTS.parts_by_rank(ints(1, 2))

    assert [(parts.tolist(), None if has is None else has.tolist()) for parts, has in by_rank] == [
        ([1, 0], [True, True]),
        ([0, 1], [False, True]),
    ]


def test_a_pod_leaves_the_machine_that_it_was_on_before_the_plan() -> None:
    assert PARTS.leaves_machine(0, ints(0, 1, 2, 3)).tolist() == [False, False, False, True]
    assert PARTS.leaves_machine(1, ints(0, 3)).tolist() == [True, True]
    assert PLAIN.leaves_machine(0, ints(0, 1)).tolist() == [True, True]


def test_needs_are_taken_away_with_the_other_sign() -> None:
    for problem, part in ((PLAIN, 0), (PARTS, 1)):
        total = problem.usage(problem.assignment)

        problem.add_needs(total, ints(0), problem.assignment[:1], sign=-1)

        assert total[part].tolist() == [0, 0]


def test_moved_are_pods_that_had_another_node() -> None:
    """Pod 0 is on another node, pod 1 got its first, and pod 2 is pending now."""
    problem = make_problem([[1]] * 4, [[9]] * 2, [0, -1, 1, 1])

    assert problem.moved(ints(1, 1, -1, 1)).tolist() == [0, 2]
