"""Where the usage of nodes and pods comes from: their requests, the metrics server, or a Prometheus query.

Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/usageclients.go`. Usage is in nano
units by resource, like all quantities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Protocol

from descheduler.model.node import Node
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import CPU, MEMORY, PODS, ResourceList
from descheduler.strategies.framework import StrategyError

METRIC_RESOURCE = "MetricResource"
"""The only resource that the Prometheus source knows: whole percent of a capacity of 100."""

_MEASURED = (CPU, MEMORY, PODS)


def resources_in_play(thresholds: Iterable[str]) -> tuple[str, ...]:
    """The resources that decide whether a node is full: those with a threshold, and cpu, memory and pods."""
    return tuple(dict.fromkeys((*thresholds, CPU, MEMORY, PODS)))


class UsageSource(Protocol):
    """Says what nodes and pods use of `resources`."""

    resources: tuple[str, ...]
    measures_pods: bool
    """Whether usage is known pod by pod."""

    def noun(self, resource: str) -> str:
        """What is counted of `resource`, such as `CPU requests` or `CPU usage`."""

    def of_node(self, node: Node, pods: Sequence[Pod]) -> Mapping[str, int]:
        """The usage of `node`, on which the active `pods` run, of every resource. Raises StrategyError when unknown."""

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """The usage of `pod` of every resource; None when it was not measured."""


class RequestedUsage:
    """Usage is what the pods' specs ask for."""

    measures_pods = True

    def __init__(self, resources: tuple[str, ...]) -> None:
        self.resources = resources

    def noun(self, resource: str) -> str:
        """Requests of the resource."""
        return noun_of(resource, "requests")

    def of_node(self, node: Node, pods: Sequence[Pod]) -> Mapping[str, int]:
        """The sum over `pods`."""
        asked = [pod.spec.requests for pod in pods]
        usage = {resource: sum([requests.get(resource, 0) for requests in asked]) for resource in self.resources}
        if PODS in usage:
            usage[PODS] = len(pods) * NANO
        return usage

    def of_pod(self, pod: Pod) -> Mapping[str, int]:
        """The effective requests; one pod of `pods`."""
        requests = pod.spec.requests
        return {resource: NANO if resource == PODS else requests.get(resource, 0) for resource in self.resources}


class MetricsServerUsage:
    """Usage is what the metrics server measured last.

    Upstream smooths samples over the life of its process, starting from the first one as it is; one run has just that.
    """

    measures_pods = True

    def __init__(
        self,
        resources: tuple[str, ...],
        *,
        nodes: Mapping[str, NodeUsage],
        pods: Mapping[tuple[str, str], PodUsage],
    ) -> None:
        self.resources = resources
        self._nodes = nodes
        self._pods = pods

    def noun(self, resource: str) -> str:
        """Usage of the resource."""
        return noun_of(resource, "usage")

    def of_node(self, node: Node, pods: Sequence[Pod]) -> Mapping[str, int]:
        """The measured cpu and memory, and the number of `pods`.

        Raises StrategyError for any other resource, and for a node that was not measured.
        """
        unmeasured = [resource for resource in self.resources if resource not in _MEASURED]
        if unmeasured:
            raise StrategyError(f"metrics server measures cpu and memory of node {node.name}, not {unmeasured[0]}")
        measured = self._nodes.get(node.name)
        if measured is None:
            raise StrategyError(f"metrics server has no value for node {node.name}")
        usage = {resource: measured.usage.get(resource, 0) for resource in self.resources}
        usage[PODS] = len(pods) * NANO
        return usage

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """The sum over the measured containers; None without any, and when one of them lacks a resource."""
        measured = self._pods.get((pod.namespace, pod.name))
        if measured is None or not measured.containers:
            return None
        resources = [resource for resource in self.resources if resource != PODS]
        if any(resource not in container for container in measured.containers for resource in resources):
            return None
        return {PODS: NANO, **{resource: _total(measured.containers, resource) for resource in resources}}


def noun_of(resource: str, what: str) -> str:
    """Such as `CPU requests`, where `what` is `requests`."""
    if resource == PODS:
        return "number of pods"
    return f"{'CPU' if resource == CPU else resource} {what}"


def _total(containers: Iterable[ResourceList], resource: str) -> int:
    return sum(container[resource] for container in containers)


class PrometheusUsage:
    """Usage is a query's sample for each node, between 0 and 1; nothing is known of single pods.

    Raises StrategyError when a sample is no such number, also one of a node that is not asked about.
    """

    measures_pods = False
    resources: tuple[str, ...] = (METRIC_RESOURCE,)

    def __init__(self, query: str, samples: Mapping[str, float]) -> None:
        self._query = query
        self._samples = samples
        for node_name, sample in samples.items():
            if isnan(sample) or not 0 <= sample <= 1:
                message = f"the sample of query {query!r} for node {node_name} is {sample:g}, not between 0 and 1"
                raise StrategyError(message)

    def noun(self, resource: str) -> str:
        """The query is the only usage there is."""
        return f"usage by the Prometheus query ({resource})"

    def of_node(self, node: Node, pods: Sequence[Pod]) -> Mapping[str, int]:
        """The sample in whole percent, cut off. Raises StrategyError for a node without one."""
        sample = self._samples.get(node.name)
        if sample is None:
            raise StrategyError(f"query {self._query!r} has no sample for node {node.name}")
        return {METRIC_RESOURCE: int(sample * 100) * NANO}

    def of_pod(self, pod: Pod) -> None:
        """Nothing: samples are per node."""
