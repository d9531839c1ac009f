"""What nodes cost, as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.model.node import Node
from descheduler.planner.objective_args import MOST_NODE_COST, NodeCost

__all__ = ["NodeCosts", "cost_text", "in_policy_units"]

_THOUSANDTHS = 1000


class NodeCosts:
    """The cost of nodes, in thousandths of the unit of `args`, 1 at least: a node that is free is still a node."""

    def __init__(self, args: NodeCost) -> None:
        self._args = args

    def of(self, node: Node) -> int:
        """The cost of one node."""
        value = node.labels.get(self._args.label)
        cost = None if value is None else self._read(value)
        return max(round(_THOUSANDTHS * (self._args.default if cost is None else cost)), 1)

    def _read(self, value: str) -> float | None:
        prices: Mapping[str, float] = self._args.prices
        if prices:
            return prices.get(value)
        try:
            cost = float(value)
        except ValueError:
            return None
        return cost if 0 <= cost < MOST_NODE_COST else None


def in_policy_units(thousandths: int) -> float:
    """In the unit of the policy."""
    return thousandths / _THOUSANDTHS


def cost_text(thousandths: int) -> str:
    """The same as text, such as `12.4`."""
    return f"{in_policy_units(thousandths):,.3f}".rstrip("0").rstrip(".")
