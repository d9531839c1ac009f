"""Clusters in which one plugin runs alone, and arguments of plugins for small nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from tests.builders import Object, make_node
from tests.strategies.runs import run_plugin
from tests.worlds.node_metrics import make_node_metric, metrics_by_node

NODES = [make_node("a", labels={"zone": "1"}), make_node("b", labels={"zone": "2"})]
LOAD = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}
LEVELS = {
    "evictionOrder": [
        {"name": "on-demand", "nodeSelector": {"matchLabels": {"zone": "1"}}},
        {"name": "spot", "nodeSelector": {"matchLabels": {"zone": "2"}}},
    ]
}
AT_ONCE = {"anomalyCondition": {"consecutiveAbnormalities": 1}}
LOADS = {"lowThresholds": {"cpu": 20}, "highThresholds": {"cpu": 70}}


def used(node: str, cpu: str, **facts: Any) -> NodeMetric:
    """A NodeMetric whose system uses so much of the 4 cores."""
    return make_node_metric(node, system={"cpu": cpu}, **facts)


@dataclass(frozen=True, eq=False)
class World:
    """A plugin, its arguments, and a cluster in which it selects nothing; it is decided once."""

    plugin: str
    pods: Sequence[Pod]
    args: Object = field(default_factory=dict)
    nodes: Sequence[Node] = tuple(NODES)
    metrics: Sequence[NodeMetric] = ()

    def decisions(self) -> Decisions:
        """What is decided when the plugin runs alone, in profile `p`."""
        return _decided(self)

    def facts(self) -> PluginFacts:
        """What the plugin saw."""
        return self.decisions().facts["p", self.plugin]


@cache
def _decided(world: World) -> Decisions:
    metrics = metrics_by_node(world.metrics)
    return run_plugin(world.plugin, world.nodes, world.pods, args=world.args, node_metrics=metrics)


PLANNED: Object = {"objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}]}
"""A node is to be at 70 % of its CPU at most."""
