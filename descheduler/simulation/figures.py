"""How a cluster stands before a cycle: pending pods, nodes over their target, and how unevenly nodes are filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import pstdev

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.requests import CPU, MEMORY
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from descheduler.report.simulation_document import ClusterFigures, Utilization

__all__ = ["figures_of"]

_OVER = "nodes over target"
"""What the planner calls that figure of its goal."""


def figures_of(decisions: Decisions, undecided: Mapping[str, int]) -> ClusterFigures:
    """The figures of the cluster that `decisions` were taken on, of whose pending pods so many are `undecided`."""
    snapshot = decisions.snapshot
    over = [number for facts in decisions.facts.values() for number in _over_target(facts)]
    return ClusterFigures(
        pods=len(snapshot.pods),
        pending=sum(not (pod.node_name or pod.is_terminal) for pod in snapshot.pods),
        unknown=sum(undecided.values()),
        nodes_over_target=max(over, default=None),
        cpu=_utilization(snapshot, CPU),
        memory=_utilization(snapshot, MEMORY),
    )


def _over_target(facts: PluginFacts) -> Iterator[int]:
    """How many nodes a plugin finds over its target, where it has one."""
    if facts.nodes is not None and facts.nodes.target_thresholds:
        yield facts.nodes.over
    yield from (level.before for goal in facts.goals for level in goal.levels if level.counts == _OVER)


def _utilization(snapshot: Snapshot, resource: str) -> Utilization:
    """Requests of the pods that have not finished, in percent of what each node can allocate; cordoned nodes count."""
    percents = [
        (100 * _requested(snapshot, node.name, resource) / allocatable, node.name)
        for node in snapshot.nodes
        if (allocatable := node.allocatable.get(resource, 0)) > 0
    ]
    highest, name = max(percents, key=lambda each: each[0], default=(0.0, ""))
    deviation = pstdev(percent for percent, _ in percents) if percents else 0.0
    return Utilization(highest_percent=round(highest, 1), highest_node=name, deviation_percent=round(deviation, 1))


def _requested(snapshot: Snapshot, node_name: str, resource: str) -> int:
    pods = snapshot.pods_by_node.get(node_name, ())
    return sum(pod.spec.requests.get(resource, 0) for pod in pods if not pod.is_terminal)
