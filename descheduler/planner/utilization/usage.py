"""How full nodes are as things are booked: by what pods request, which every way of measuring has to be like."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import Problem
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.planner.utilization.targets import UsageTargets


class UsageMeasure(Protocol):
    """What nodes and pods use, one pod at a time and as arrays."""

    @property
    def what(self) -> str:
        """The measure of a resource: `requests` or `usage`."""
        ...

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources of which it is known how much is taken of nodes."""
        ...

    def of(self, node: str) -> NodeUtilization | None:
        """The usage of a node as things are booked; None where it is unknown."""
        ...

    def need(self, pod: Pod) -> Ints:
        """int64[R]: what the pod takes of `resources`."""
        ...

    def most_after(self, pod: Pod) -> Ints:
        """int64[R]: what the replacement of the pod takes of `resources` at most."""
        ...

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """The problem of `cluster` with this usage among its needs."""
        ...

    def ceilings_over(self, cluster: ClusterProblem, targets: UsageTargets) -> Ints:
        """int64[N, R]: what the pods of that problem may take of each node under `targets`."""
        ...


class RequestsAsUsage:
    """Implements `UsageMeasure`: what pods request, and what is held beside them."""

    what = "requests"

    def __init__(self, evictor: PluginEvictor) -> None:
        self._evictor = evictor

    @property
    def resources(self) -> tuple[str, ...]:
        """All that any node or pod has."""
        return self._evictor.prover().openings().resources

    def of(self, node: str) -> NodeUtilization:
        """The usage of a node. Raises KeyError."""
        openings = self._evictor.prover().openings()
        column = openings.place_of(node)
        return NodeUtilization(openings.resources, openings.taken[:, column], openings.capacity[:, column])

    def need(self, pod: Pod) -> Ints:
        """What it requests."""
        return self._evictor.prover().openings().need(pod.spec)

    def most_after(self, pod: Pod) -> Ints:
        """What its replacement requests: what the template of the owner says, or what admission makes of that."""
        most: Ints = np.max(self._evictor.prover().openings().needs_of_replacement(pod), axis=0)
        return most

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """Requests are its needs as it is."""
        return cluster.problem

    def ceilings_over(self, cluster: ClusterProblem, targets: UsageTargets) -> Ints:
        """The targets, less what is held by other things than pods."""
        return cluster.ceilings(targets.ceilings(cluster.resources, cluster.allocatable))
