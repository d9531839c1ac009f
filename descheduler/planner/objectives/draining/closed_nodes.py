"""Onto which nodes no plan has replacements scheduled: those that are to be drained, now or soon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import DEPARTURE_CONDITIONS, Node
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.drained_nodes import selected_nodes

_MOST_NAMED = 3
"""Nodes that one sentence names."""
_UNSELECTED = "is not selected by the policy"


class ClosedNodes:
    """The nodes of `nodes` that `drains` are about, and all of the cluster that their owner is about to drain."""

    def __init__(self, drains: Iterable[DrainNodesArgs], handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        files = handle.policy.scheduler_files
        departing = {
            node.name: f"has the condition {min(found)}"
            for node in handle.view.snapshot.nodes
            if (found := node.true_conditions & DEPARTURE_CONDITIONS)
        }
        drained = frozenset().union(*(selected_nodes(args, nodes, files) for args in drains))
        self._why = departing | dict.fromkeys(drained, "is to be drained")

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset(self._why)

    def why(self, node: str) -> str:
        """Why no replacement is to be scheduled onto `node`, as the end of a sentence about it; "" for other nodes."""
        return self._why.get(node, "")

    @property
    def text(self) -> str:
        """Such as `2 nodes receive no replacement pods (a is to be drained, b has the condition DrainInProgress)`."""
        if not self._why:
            return ""
        receive = "receives" if len(self._why) == 1 else "receive"
        return f"{counted(len(self._why), 'node')} {receive} no replacement pods ({self.named(self._why)})"

    def named(self, nodes: Iterable[str]) -> str:
        """`nodes` that receive no replacement, each with why; of many the first ones.

        Those that are not closed are no nodes of the plan.
        """
        names = sorted(nodes)
        more = [f"{len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else []
        return ", ".join([*(f"{name} {self.why(name) or _UNSELECTED}" for name in names[:_MOST_NAMED]), *more])

    def harm(self, node: str) -> Verdict:
        """The same as what a landing on the node is refused with."""
        why = self.why(node)
        if not why:
            return ACCEPTED
        return refuse(Reason.OTHER_LANDING, f"the replacement pod would be scheduled onto {node}, which {why}", node)
