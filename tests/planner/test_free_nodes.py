"""ConsolidateNodes where nodes have prices: free nodes, and prices of less than thousandths."""

from __future__ import annotations

import math

import pytest

from tests.builders import Object
from tests.planner.objective_over import Asked
from tests.planner.test_consolidate_objective import consolidate


def priced(**prices: float) -> Asked:
    """By the name of each node."""
    return consolidate({"nodeCost": {"label": "name", "prices": prices}})


def test_free_nodes_cost_nothing_and_are_not_emptied() -> None:
    asked = priced(a=0, b=4, c=0, d=1)
    objective = asked.objective

    stated = objective.stated_over(asked.cluster)

    assert objective.change(objective.figure(), objective.figure()) == "3 nodes in use → 3 (cost 4 → 4)"
    assert (stated.weight.tolist(), stated.protected.tolist()) == ([0, 4000, 0, 1000], [True, False, True, False])
    assert objective.asked_later("a") == math.inf
    assert objective.why_not(asked.pod("p")) == "node a costs nothing (nodeCost)"


def test_prices_of_less_than_thousandths_are_counted_and_shown_as_they_are() -> None:
    objective = priced(a=0.0116, b=0.0004, c=0.0004, d=1).objective

    assert objective.text_of(objective.figure()) == "cost of nodes in use 0.0124"
    assert objective.figure() / objective.scale == 12.4


@pytest.mark.parametrize(
    ("args", "others"),
    [({}, ""), ({"protectedNodes": {"matchLabels": {"name": "a"}}}, " or is protected (protectedNodes)")],
)
def test_it_is_said_where_all_nodes_in_use_are_free(args: Object, others: str) -> None:
    free: Object = {"nodeCost": {"label": "name", "prices": dict.fromkeys("abc", 0)}}

    assert consolidate({**free, **args}).objective.nothing_to_do() == (
        f"every node in use costs nothing (nodeCost){others}, 3 nodes"
    )
