"""Scores by shapes, in proportion to the highest, and of resources that nodes have."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from descheduler.placement.plugins.helper.scores import (
    NormalizedScores,
    ShapePoint,
    highest_of,
    is_scored_unasked,
    ratings_of,
    scored_resource,
    tdiv,
)
from descheduler.placement.shadow.node_table import NodeTable
from tests.builders import make_node
from tests.placement.configuration.kube_scheduler.builders import problems, with_args


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param([(0, 0), (100, 10)], {0: 0, 57: 57, 100: 100}, id="a rising line"),
        pytest.param([(0, 10), (50, 2), (100, 0)], {0: 100, 25: 60, 50: 20, 75: 10, 100: 0}, id="a falling line"),
        pytest.param(
            [(20, 3), (60, 5)], {0: 30, 20: 30, 40: 40, 59: 49, 60: 50, 61: 50, 100: 50}, id="flat at its ends"
        ),
        pytest.param([(0, 10), (3, 0)], {1: 67, 2: 34, 3: 0}, id="steps down are cut toward zero"),
        pytest.param([(0, 0), (3, 10)], {1: 33, 2: 66, 3: 100}, id="steps up are cut toward zero"),
        pytest.param([(50, 4)], {0: 40, 50: 40, 100: 40}, id="one point"),
    ],
)
def test_score_is_on_the_line_through_the_points(shape: list[tuple[int, int]], expected: dict[int, int]) -> None:
    ratings = ratings_of([ShapePoint(*point) for point in shape])

    assert len(ratings) == 101
    assert {percent: int(ratings[percent]) for percent in expected} == expected


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        pytest.param([0], "", id="one point"),
        pytest.param([0, 1], "", id="in order"),
        pytest.param([1, 1], "1 is not above 1", id="the same utilization twice"),
        pytest.param([1, 0], "0 is not above 1", id="out of order"),
        pytest.param([], "is empty", id="no point"),
    ],
)
def test_points_of_a_shape_have_to_be_in_order(points: list[int], problem: str) -> None:
    shape = ", ".join(f"{{utilization: {point}, score: 1}}" for point in points)
    ratio = f"{{type: RequestedToCapacityRatio, requestedToCapacityRatio: {{shape: [{shape}]}}}}"

    found = problems(with_args("NodeResourcesFit", f"{{scoringStrategy: {ratio}}}"))

    assert [problem in each for each in found] == ([True] if problem else [])


@pytest.mark.parametrize(
    ("raw", "feasible", "expected"),
    [
        pytest.param([10, 40, 0], [True, True, True], [25, 100, 0], id="all nodes"),
        pytest.param([10, 40, 0], [True, False, True], [100, 400, 0], id="the best one is not feasible"),
        pytest.param([0, 40, 0], [True, False, True], [0, 0, 0], id="nothing but zeros is feasible"),
        pytest.param([0, 0], [True, True], [0, 0], id="nothing but zeros"),
        pytest.param([-5, -1], [True, True], [0, 0], id="nothing above zero"),
    ],
)
def test_scores_are_in_proportion_to_the_highest_of_the_feasible_nodes(
    raw: list[int], feasible: list[bool], expected: list[int]
) -> None:
    scores = NormalizedScores(np.array(raw, dtype=np.int64))
    mask = np.array(feasible, dtype=bool)

    first, again = scores.among(mask), scores.among(mask)

    assert first.final.tolist() == again.final.tolist() == expected
    assert highest_of(np.array(raw, dtype=np.int64), mask) == max(
        0, *(value for value, is_open in zip(raw, feasible, strict=True) if is_open)
    )


def test_score_that_is_the_same_everywhere_is_said_so() -> None:
    nothing = NormalizedScores(np.zeros(3, dtype=np.int64), is_reversed=True).among(np.ones(3, dtype=bool))
    some = NormalizedScores(np.array([1, 2], dtype=np.int64)).among(np.ones(2, dtype=bool))
    none = NormalizedScores(np.zeros(0, dtype=np.int64)).among(np.ones(0, dtype=bool))

    assert (nothing.level, some.level, none.level) == (100, None, None)


def test_scores_are_worked_out_for_many_different_sets_of_nodes() -> None:
    raw = np.arange(1, 21, dtype=np.int64)
    scores = NormalizedScores(raw)

    found = [int(scores.among(raw <= highest).final[0]) for highest in (*raw, *raw)]

    assert found == [100 // int(highest) for highest in (*raw, *raw)]
    assert all(before >= after for before, after in pairwise(found[:20]))


@pytest.mark.parametrize(("numerator", "expected"), [(7, 3), (-7, -3), (2**53 + 1, 2**52), (-(2**60) - 1, -(2**59))])
def test_quotient_is_cut_toward_zero(numerator: int, expected: int) -> None:
    assert tdiv(np.array([numerator, 1], dtype=np.int64), 2).tolist() == [expected, 0]


def test_resource_is_scored_where_a_node_has_any_of_it() -> None:
    table = NodeTable([make_node("a", allocatable={"x/y": "3"}), make_node("b")])

    some, every = scored_resource(table, "x/y"), scored_resource(table, "cpu")

    assert some.is_available is not None
    assert (some.is_available.tolist(), some.allocatable.tolist()) == ([True, False], [3, 1])
    assert every.is_available is None


def test_resources_of_every_pod_are_scored_unasked() -> None:
    names = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi")

    assert [is_scored_unasked(name) for name in names] == [True, True, True, False, False]
