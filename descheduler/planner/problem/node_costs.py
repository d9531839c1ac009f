"""What nodes cost, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from descheduler.model.node import Node
from descheduler.model.text.counted import counted, first_names
from descheduler.planner.objective_args import MOST_NODE_COST, NodeCost

_THOUSANDTHS = 1000
_MOST_NAMED = 5


class NodeCosts:
    """The cost of nodes, in thousandths of the unit of `args`, 1 at least: a node that is free is still a node."""

    def __init__(self, args: NodeCost) -> None:
        self._args = args

    def of(self, node: Node) -> int:
        """The cost of one node."""
        cost = self._known(node)
        return max(round(_THOUSANDTHS * (self._args.default if cost is None else cost)), 1)

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


def in_policy_units(thousandths: int) -> float:
    """In the unit of the policy."""
    return thousandths / _THOUSANDTHS


def cost_text(thousandths: int) -> str:
    """The same as text, such as `12.4`."""
    return f"{in_policy_units(thousandths):,.3f}".rstrip("0").rstrip(".")
