"""Nodes with their usage, in the classes and the order that the utilization plugins work with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList, ceil_amount
from descheduler.strategies.node_utilization.thresholds import capacity_of, ceiling_of, usage_percent
from descheduler.strategies.node_utilization.usage import UsageSource


class NodeLoad(msgspec.Struct, frozen=True):
    """A node as it was when the plugin began: its active pods and their usage, in nano units and in percent.

    `departed` are pods that are listed and that earlier rounds of the run have evicted. They are in the usage, so that
    every round puts the node into the same class, and not in `pods`. Neither are pods that are to arrive for those that
    the run has evicted before; they use the node already.
    """

    node: Node
    pods: Sequence[Pod]
    usage: ResourceList
    percent: Mapping[str, float]
    departed: Sequence[Pod] = ()

    def ceilings(self, high: Mapping[str, float]) -> dict[str, int]:
        """How much of each resource in play may be used under the thresholds `high`; see `ceiling_of`."""
        capacity = capacity_of(self.node)
        return {resource: ceiling_of(capacity, high, resource) for resource in self.usage}


def measure(nodes: Sequence[Node], view: ClusterView, source: UsageSource) -> list[NodeLoad]:
    """The load of every node, in order. Raises StrategyError when `source` does not know one."""
    loads = []
    for node in nodes:
        listed = view.active_pods_on(node.name)
        usage = source.of_node(node, listed)
        departed = [pod for pod in listed if view.prior_moves.have_taken(pod)] if view.prior_moves else ()
        here = [pod for pod in listed if not view.is_arrival(pod)] if view.has_arrivals else listed
        pods = [pod for pod in here if not view.prior_moves.have_taken(pod)] if departed else here
        loads.append(NodeLoad(node, pods, usage, usage_percent(usage, capacity_of(node)), departed))
    return loads


class _SettledNode(NamedTuple):
    """What one node uses with these `pods`, and its `loads` with one more, by the usage of that."""

    pods: Sequence[Pod]
    usage: Mapping[str, int]
    loads: dict[tuple[tuple[str, int], ...], NodeLoad]


class SettledLoads:
    """The loads of nodes after moves. What a node uses is found once for as long as its pods are the same."""

    def __init__(self, source: UsageSource) -> None:
        self._source = source
        self._known: dict[str, _SettledNode] = {}

    def with_arrival(self, arrival: Pod, left: Pod, after: ClusterView) -> NodeLoad:
        """The load of the node of `arrival`, which comes for the pod that has `left` and is not in `after` yet.

        Where usage is measured, that of a pod that comes is that of the pod for which it comes. Raises StrategyError as
        `measure` does.
        """
        node, pods = after.nodes[arrival.node_name], after.pods_on(arrival.node_name)
        known = self._known.get(node.name)
        if known is None or known.pods is not pods:
            known = self._known[node.name] = _SettledNode(pods, self._usage(node, after), {})
        own = self._source.of_pod(arrival) or self._source.of_pod(left)
        amounts = () if own is None else tuple(own.items())
        load = known.loads.get(amounts)
        if load is None:
            usage = dict(known.usage)
            _add(usage, own, 1)
            load = known.loads[amounts] = NodeLoad(node, pods, usage, usage_percent(usage, capacity_of(node)))
        return load

    def _usage(self, node: Node, after: ClusterView) -> dict[str, int]:
        before = [pod for pod in after.snapshot.pods_by_node.get(node.name, ()) if not pod.is_terminal]
        there = after.active_pods_on(node.name)
        usage = dict(self._source.of_node(node, before))
        staying = set(map(id, there))
        for pod in before:
            if id(pod) not in staying:
                _add(usage, self._source.of_pod(pod), -1)
        for pod in there:
            if (left := after.evicted_for(pod)) is not None:
                _add(usage, self._source.of_pod(pod) or self._source.of_pod(left), 1)
        return usage


def _add(usage: dict[str, int], pod_usage: Mapping[str, int] | None, sign: int) -> None:
    """Changes `usage` by that of one pod, where it is known."""
    if pod_usage is not None:
        for resource in usage:
            usage[resource] += sign * pod_usage[resource]


def is_underused(percent: Mapping[str, float], low: Mapping[str, float]) -> bool:
    """Whether no threshold of `low` is passed; being equal is underused."""
    return all(percent.get(resource, 0.0) <= limit for resource, limit in low.items())


def is_overused(percent: Mapping[str, float], high: Mapping[str, float]) -> bool:
    """Whether some threshold of `high` is passed; being equal is not."""
    return any(percent.get(resource, 0.0) > limit for resource, limit in high.items())


def sort_by_usage(loads: Iterable[NodeLoad], *, ascending: bool) -> list[NodeLoad]:
    """The nodes by the plain sum of all they use, cpu in milli and all else in base units; ties in the given order.

    The units make bytes of memory decide, as upstream has it.
    """
    return sorted(loads, key=lambda load: _raw_sum(load.usage), reverse=not ascending)


def _raw_sum(usage: ResourceList) -> int:
    return sum(ceil_amount(resource, nano) for resource, nano in usage.items())


def free_resources(destinations: Iterable[NodeLoad], high: Mapping[str, float]) -> dict[str, int]:
    """What all `destinations` together can still take before they reach their thresholds, in nano units.

    Below zero where they hold more already, which happens to resources without a threshold.
    """
    free: dict[str, int] = {}
    for load in destinations:
        for resource, ceiling in load.ceilings(high).items():
            free[resource] = free.get(resource, 0) + ceiling - load.usage[resource]
    return free
