"""What nodes cost by their labels, and what is said where a price is missing."""

from __future__ import annotations

import pytest

from descheduler.planner.objective_args import NodeCost
from descheduler.planner.problem.node_costs import NodeCosts, cost_text, price_text, scale_of, whole_cost
from tests.builders import make_node

PRICED = NodeCost(label="type", prices={"large": 2.5, "small": 0.0}, default=1.5)
STATED = NodeCost(label="cost", default=2)


@pytest.mark.parametrize(
    ("args", "labels", "cost"),
    [
        pytest.param(PRICED, {"type": "large"}, 2.5, id="its price"),
        pytest.param(PRICED, {"type": "small"}, 0.0, id="free"),
        pytest.param(PRICED, {"type": "other"}, 1.5, id="a value without a price"),
        pytest.param(PRICED, {}, 1.5, id="no label"),
        pytest.param(STATED, {"cost": "0.0004"}, 0.0004, id="less than a thousandth"),
        pytest.param(STATED, {"cost": "3.1"}, 3.1, id="the label is the cost"),
        pytest.param(STATED, {"cost": "0"}, 0.0, id="a cost of 0"),
        pytest.param(STATED, {"cost": "-0.1"}, 2.0, id="below 0"),
        pytest.param(STATED, {"cost": "999999999"}, 999_999_999.0, id="the most"),
        pytest.param(STATED, {"cost": "1000000000"}, 2.0, id="more than the most"),
        pytest.param(STATED, {"cost": "nan"}, 2.0, id="not a number"),
        pytest.param(STATED, {"cost": "cheap"}, 2.0, id="a word"),
    ],
)
def test_a_node_costs_its_price_or_the_default(args: NodeCost, labels: dict[str, str], cost: float) -> None:
    assert NodeCosts(args).of(make_node("a", labels=labels)) == cost


@pytest.mark.parametrize(
    ("labels", "faults"),
    [
        pytest.param([{"type": "large"}, {"type": "small"}], [], id="all have a price"),
        pytest.param([{}, {}], ["nodeCost.label: no node has the label type (default: 1.5)"], id="no label at all"),
        pytest.param(
            [{"type": "large"}, {"type": "small"}, {}],
            ["nodeCost: 1 node has no price (default: 1.5): without the label type"],
            id="one without the label",
        ),
        pytest.param(
            [{"type": "large"}, {"type": "odd"}],
            [
                "nodeCost: 1 node has no price (default: 1.5): value odd",
                "nodeCost.prices: no node has the value small",
            ],
            id="one of another value",
        ),
        pytest.param(
            [{"type": "small"}, {"type": "odd"}, {"type": "even"}, {}],
            [
                "nodeCost: 3 nodes have no price (default: 1.5): values even, odd or without the label type",
                "nodeCost.prices: no node has the value large",
            ],
            id="several of both",
        ),
    ],
)
def test_nodes_without_a_price_and_prices_without_a_node_are_said(
    labels: list[dict[str, str]], faults: list[str]
) -> None:
    nodes = [make_node(f"n{number}", labels=each) for number, each in enumerate(labels)]

    assert list(NodeCosts(PRICED).faults(nodes)) == faults


@pytest.mark.parametrize(
    ("costs", "scale", "whole"),
    [
        pytest.param([4.0, 0.0], 1000, [4000, 0], id="thousandths, and 0 is 0"),
        pytest.param([0.0116, 0.2], 10_000, [116, 2000], id="as fine as prices are stated"),
        pytest.param([1e-12, 1.0], 10**9, [1, 10**9], id="no finer than a billionth"),
        pytest.param([0.0001, 999_999_999.0], 1000, [1, 999_999_999_000], id="no finer than leaves numbers small"),
        pytest.param([], 1000, [], id="no price"),
    ],
)
def test_costs_are_whole_numbers_of_the_smallest_part_that_is_stated(
    costs: list[float], scale: int, whole: list[int]
) -> None:
    assert scale_of(costs) == scale
    assert [whole_cost(cost, scale) for cost in costs] == whole


@pytest.mark.parametrize(
    ("number", "text"), [(12_400, "12.4"), (12_000, "12"), (1, "0.001"), (1_234_567_000, "1,234,567"), (0, "0")]
)
def test_sums_of_costs_are_written_in_the_unit_of_the_policy(number: int, text: str) -> None:
    assert cost_text(number) == text


def test_finer_parts_are_written_with_all_their_digits() -> None:
    assert cost_text(116, 10_000) == "0.0116"


@pytest.mark.parametrize(
    ("price", "text"),
    [(0.0116, "0.0116"), (4.0, "4"), (0.0, "0"), (1e-05, "0.00001"), (1234.5, "1,234.5"), (100.0, "100")],
)
def test_a_price_is_written_as_it_is_stated(price: float, text: str) -> None:
    assert price_text(price) == text
