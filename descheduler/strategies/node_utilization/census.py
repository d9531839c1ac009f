"""The nodes of one run in their classes, and what they say to somebody who asks why nothing happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from descheduler.model.text.counted import counted
from descheduler.plan.facts import NodeClasses, PluginFacts
from descheduler.strategies.node_utilization.classify import NodeLoad
from descheduler.strategies.node_utilization.levels import Thresholds, UsageLevel


class Stop(msgspec.Struct, frozen=True):
    """A condition that ends a plugin: the line that kubernetes-sigs/descheduler logs, and why."""

    line: str
    why: str


class NodeCensus(msgspec.Struct, frozen=True):
    """The `loads` of all nodes, and which are `under` and `over` the thresholds. `noun` names the use of a resource.

    A plugin that relieves underutilized nodes has no `high` thresholds, and no node over them.
    """

    loads: Sequence[NodeLoad]
    under: Sequence[NodeLoad]
    over: Sequence[NodeLoad]
    low: Thresholds
    high: Thresholds
    noun: Callable[[str], str]

    def check_under(self, number_of_nodes: int) -> Stop | None:
        """The stop of both plugins for want of underutilized nodes, or of any other; None without."""
        num_under = len(self.under)
        if not num_under:
            line = "No node is underutilized, nothing to do here, you might tune your thresholds further"
            return Stop(line, f"no {self._kind_of_taker()} is underutilized: {self._lowest()}")
        if num_under <= number_of_nodes:
            line = "Number of nodes underutilized is less or equal than NumberOfNodes, nothing to do here"
            more = f"more than {number_of_nodes:,} are required (numberOfNodes: {number_of_nodes})"
            return Stop(line, f"{nodes_text(num_under)} underutilized, {more}")
        if num_under == len(self.loads):
            return Stop("All nodes are underutilized, nothing to do here", f"all {num_under:,} nodes are underutilized")
        return None

    def check_over(self) -> Stop | None:
        """The stop for want of overutilized nodes."""
        if self.over:
            return None
        return Stop(
            "All nodes are under target utilization, nothing to do here", f"no node is overutilized: {self._highest()}"
        )

    def over_sentence(self, load: NodeLoad) -> str:
        """What makes a node overutilized."""
        return " and ".join(level.sentence(self.noun(level.resource)) for level in _above(load, self.high))

    def under_sentence(self, load: NodeLoad) -> str:
        """What makes a node underutilized."""
        return " and ".join(level.sentence(self.noun(level.resource)) for level in self.low.levels(load))

    def why_not_over(self, node_name: str) -> str:
        """Why a node is not overutilized; empty when it is."""
        load = self._of(node_name)
        if load is None or any(each is load for each in self.over):
            return ""
        return f"node {node_name} is not overutilized{self._after_colon(self.high.highest(load))}"

    def why_not_under(self, node_name: str) -> str:
        """Why a node is not underutilized; empty when it is."""
        load = self._of(node_name)
        if load is None or any(each is load for each in self.under):
            return ""
        return f"node {node_name} is not underutilized{self._after_colon(self.low.highest(load))}"

    def facts(self, stop: Stop | None, *, why: str = "", num_selected: int = 0) -> PluginFacts:
        """What was seen, with why nothing was selected when that is not a `stop`."""
        num_examined = sum(len(load.pods) for load in self.loads)
        key = (self.high if self.high.percent else self.low).key
        num_left_out = num_examined - num_selected
        return PluginFacts(
            why_nothing="" if num_selected else why if stop is None else stop.why,
            stopped="" if stop is None else stop.line,
            pods_examined=num_examined,
            pods_selected=num_selected,
            left_out={key: num_left_out} if num_left_out else {},
            nearest=(*self.low.nearest(self.loads), *self.high.nearest(self.loads)),
            nodes=NodeClasses(
                under=len(self.under),
                between=len(self.loads) - len(self.under) - len(self.over),
                over=len(self.over),
                thresholds=self.low.percent,
                target_thresholds=self.high.percent,
            ),
        )

    def _kind_of_taker(self) -> str:
        """What underutilized nodes are: with overutilized ones to relieve, cordoned nodes are none."""
        is_cordoned = bool(self.high.percent) and any(load.node.unschedulable for load in self.loads)
        return "schedulable node" if is_cordoned else "node"

    def _lowest(self) -> str:
        """The node that lacks least for being underutilized, by the resource that keeps it from that."""
        candidates = (load for load in self.loads if not (self.high.percent and load.node.unschedulable))
        return self._named("lowest", self.low, min(candidates, key=self.low.excess, default=None))

    def _highest(self) -> str:
        """The node that lacks least for being overutilized."""
        return self._named("highest", self.high, max(self.loads, key=self.high.excess, default=None))

    def _named(self, superlative: str, thresholds: Thresholds, load: NodeLoad | None) -> str:
        level = None if load is None else thresholds.highest(load)
        if level is None:
            return "no node is examined"
        return f"the {superlative} is {level.load.node.name} with {level.words(self.noun(level.resource))}"

    def _after_colon(self, level: UsageLevel | None) -> str:
        return "" if level is None else f": {level.words(self.noun(level.resource))}"

    def _of(self, node_name: str) -> NodeLoad | None:
        return next((load for load in self.loads if load.node.name == node_name), None)


def no_census() -> NodeCensus:
    """The census of a plugin that has not run."""
    nothing = Thresholds.fixed("thresholds", {})
    return NodeCensus((), (), (), nothing, nothing, str)


def nodes_text(number: int) -> str:
    """Such as `1 node is` or `2 nodes are`."""
    return f"{counted(number, 'node')} {'is' if number == 1 else 'are'}"


def _above(load: NodeLoad, high: Thresholds) -> Collection[UsageLevel]:
    return [level for level in high.levels(load) if level.excess > 0]
