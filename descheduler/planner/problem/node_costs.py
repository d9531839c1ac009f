"""What nodes cost, as the policy states it and as whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from descheduler.model.node import Node
from descheduler.model.text.counted import counted, first_names
from descheduler.planner.objective_args import MOST_NODE_COST, NodeCost

THOUSANDTHS = 1000
"""How many of the whole numbers in which costs are counted make one of the policy's unit, unless prices are finer."""
_MOST_DIGITS, _MOST = 9, 10**12
"""Prices are counted to so many decimals at most, and in whole numbers up to this."""
_MOST_NAMED = 5


class NodeCosts:
    """The cost of nodes, in the unit of `args`; 0 for those that are free."""

    def __init__(self, args: NodeCost) -> None:
        self._args = args

    def of(self, node: Node) -> float:
        """The cost of one node, as it is stated."""
        cost = self._known(node)
        return self._args.default if cost is None else cost

    def faults(self, nodes: Sequence[Node]) -> Iterator[str]:
        """Which of `nodes` cost the default because no price is known, and which prices are those of no node then."""
        label, default = self._args.label, f"(default: {self._args.default:g})"
        without = [node for node in nodes if self._known(node) is None]
        if not without:
            return
        if not any(label in node.labels for node in nodes):
            yield f"nodeCost.label: no node has the label {label} {default}"
            return
        values = sorted({node.labels[label] for node in without if label in node.labels})
        shown = f"{'value' if len(values) == 1 else 'values'} {first_names(values, _MOST_NAMED)}" if values else ""
        unlabelled = "" if all(label in node.labels for node in without) else f"without the label {label}"
        has = "has" if len(without) == 1 else "have"
        causes = " or ".join(filter(None, (shown, unlabelled)))
        yield f"nodeCost: {counted(len(without), 'node')} {has} no price {default}: {causes}"
        if unused := sorted(self._args.prices.keys() - {node.labels.get(label) for node in nodes}):
            yield f"nodeCost.prices: no node has the value {first_names(unused, _MOST_NAMED)}"

    def _known(self, node: Node) -> float | None:
        value = node.labels.get(self._args.label)
        return None if value is None else self._read(value)

    def _read(self, value: str) -> float | None:
        prices: Mapping[str, float] = self._args.prices
        if prices:
            return prices.get(value)
        try:
            cost = float(value)
        except ValueError:
            return None
        return cost if 0 <= cost < MOST_NODE_COST else None


def scale_of(costs: Iterable[float]) -> int:
    """A power of ten, 1000 at least, that makes all `costs` whole numbers, as far as these stay small."""
    stated = [Decimal(repr(cost)).normalize() for cost in costs]
    digits = max((-int(cost.as_tuple().exponent) for cost in stated), default=0)
    largest = max(stated, default=Decimal(0))
    scale = THOUSANDTHS
    while scale < 10 ** min(digits, _MOST_DIGITS) and largest * scale * 10 <= _MOST:
        scale *= 10
    return scale


def whole_cost(cost: float, scale: int) -> int:
    """`cost` in parts of which `scale` make one of the policy's unit: 0 only for what is free."""
    return max(round(cost * scale), 1) if cost else 0


def cost_text(number: float, scale: int = THOUSANDTHS) -> str:
    """A number of such parts in the unit of the policy, such as `12.4`."""
    return price_text(number / scale, len(str(scale)) - 1)


def price_text(cost: float, digits: int | None = None) -> str:
    """A cost in the unit of the policy, such as `12.4`: rounded to so many decimals, or as it is stated."""
    text = f"{Decimal(repr(cost)):,f}" if digits is None else f"{cost:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
