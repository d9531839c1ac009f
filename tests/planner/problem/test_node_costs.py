"""What nodes cost by their labels, and what is said where a price is missing."""

from __future__ import annotations

import pytest

from descheduler.planner.objective_args import NodeCost
from descheduler.planner.problem.node_costs import NodeCosts, cost_text, in_policy_units
from tests.builders import make_node

PRICED = NodeCost(label="type", prices={"large": 2.5, "small": 0.0}, default=1.5)
STATED = NodeCost(label="cost", default=2)


@pytest.mark.parametrize(
    ("args", "labels", "cost"),
    [
        pytest.param(PRICED, {"type": "large"}, 2500, id="its price"),
        pytest.param(PRICED, {"type": "small"}, 1, id="free, but still a node"),
        pytest.param(PRICED, {"type": "other"}, 1500, id="a value without a price"),
        pytest.param(PRICED, {}, 1500, id="no label"),
        pytest.param(STATED, {"cost": "0.0004"}, 1, id="less than a thousandth"),
        pytest.param(STATED, {"cost": "3.1"}, 3100, id="the label is the cost"),
        pytest.param(STATED, {"cost": "0"}, 1, id="a cost of 0"),
        pytest.param(STATED, {"cost": "-0.1"}, 2000, id="below 0"),
        pytest.param(STATED, {"cost": "999999999"}, 999_999_999_000, id="the most"),
        pytest.param(STATED, {"cost": "1000000000"}, 2000, id="more than the most"),
        pytest.param(STATED, {"cost": "nan"}, 2000, id="not a number"),
        pytest.param(STATED, {"cost": "cheap"}, 2000, id="a word"),
    ],
)
def test_a_node_costs_its_price_or_the_default(args: NodeCost, labels: dict[str, str], cost: int) -> None:
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
    ("thousandths", "text"), [(12_400, "12.4"), (12_000, "12"), (1, "0.001"), (1_234_567_000, "1,234,567"), (0, "0")]
)
def test_costs_are_written_in_the_unit_of_the_policy(thousandths: int, text: str) -> None:
    assert cost_text(thousandths) == text
    assert in_policy_units(thousandths) == thousandths / 1000
