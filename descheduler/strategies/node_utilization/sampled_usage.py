"""Usage as Volcano's descheduler and scheduler measure it: shares of nodes, and what pods use, averaged over a time.

As in volcano-sh/volcano after 1.16.0-alpha.1, and in volcano-sh/descheduler on kubernetes-sigs/descheduler 0.27.1.
Pods are asked for with their namespaces; Volcano's queries name the pod alone. The custom metrics of
`prometheus_adaptor` are not read: the metrics server stands in for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO, ceil_value
from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.model.text.urls import is_web_url, shown_url
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args, one_of
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.node_utilization.usage import MetricsServerUsage, noun_of

PROMETHEUS, ADAPTOR = "prometheus", "prometheus_adaptor"
_TYPES = (PROMETHEUS, ADAPTOR)
_DURATION = re.compile(r"([0-9]+(ms|[smhdwy]))+\Z")


class LoadMetrics(Args, frozen=True):
    """Where usage comes from."""

    type: Annotated[str, one_of(_TYPES)] = ""
    """`prometheus`; with `prometheus_adaptor`, or unset, the metrics server is asked."""
    address: str = ""
    """URL of Prometheus; the one of `metricsProviders` when unset."""


def check_metrics(metrics: LoadMetrics | None) -> list[ArgsProblem]:
    """Problems of the type and of the address, which must not hold a password."""
    if metrics is None:
        return []
    problems = []
    if metrics.type and metrics.type not in _TYPES:
        problems.append(ArgsProblem(("metrics", "type"), f"{metrics.type!r} is not one of {', '.join(_TYPES)}"))
    if metrics.address and (not is_web_url(metrics.address) or "@" in metrics.address):
        message = f"{shown_url(metrics.address)!r} is not a URL such as http://prometheus:9090 (without a password)"
        problems.append(ArgsProblem(("metrics", "address"), message))
    return problems


def check_duration(field: str, duration: str) -> list[ArgsProblem]:
    """A problem unless Prometheus reads `duration`, which becomes a part of queries."""
    if _DURATION.match(duration):
        return []
    return [ArgsProblem((field,), f"{duration!r} is not a duration such as 90s, 2m or 1h30m")]


def metrics_needs(metrics: LoadMetrics | None) -> Needs:
    """The kinds of the metrics server, unless Prometheus is asked."""
    if metrics is not None and metrics.type == PROMETHEUS:
        return Needs()
    return Needs(frozenset(("NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io")))


class UsageQueries(msgspec.Struct, frozen=True):
    """The queries of Prometheus, one for all nodes or pods.

    Of nodes they give shares of the capacity in 0..1, of pods CPU in cores and memory in bytes.
    """

    node_cpu: str
    node_memory: str
    pod_cpu: str
    pod_memory: str

    @classmethod
    def over(cls, duration: str, rate: str) -> UsageQueries:
        """Those that average over `duration`; `rate` is the PromQL of a rate with `{}` for the counter."""
        idle = rate.format('node_cpu_seconds_total{mode="idle"}')
        cores = rate.format('container_cpu_usage_seconds_total{container="",pod!=""}')
        return cls(
            node_cpu=f"avg_over_time(clamp(1 - avg by (instance) ({idle}), 0, 1)[{duration}:30s])",
            node_memory=(
                "avg_over_time((1 - max by (instance) (node_memory_MemAvailable_bytes)"
                f" / max by (instance) (node_memory_MemTotal_bytes))[{duration}:30s])"
            ),
            pod_cpu=f"avg_over_time(sum by (namespace, pod) ({cores})[{duration}:30s])",
            pod_memory='sum by (namespace, pod) (container_memory_usage_bytes{container="",pod!=""})',
        )

    @property
    def all(self) -> tuple[str, ...]:
        """All of them."""
        return self.node_cpu, self.node_memory, self.pod_cpu, self.pod_memory


class SampledUsage:
    """Usage of nodes by their shares, in nano units, and of pods as it was measured.

    A node that was not measured raises StrategyError, or counts as unused with `takes_missing_for_zero`.
    """

    measures_pods = True
    resources: tuple[str, ...] = (CPU, MEMORY, PODS)

    def __init__(
        self,
        snapshot: Snapshot,
        metrics: LoadMetrics | None,
        queries: UsageQueries,
        *,
        takes_missing_for_zero: bool = False,
    ) -> None:
        self._snapshot = snapshot
        self._queries = queries if metrics is not None and metrics.type == PROMETHEUS else None
        self._server = MetricsServerUsage(self.resources, nodes=snapshot.node_usage, pods=snapshot.pod_usage)
        self._takes_missing_for_zero = takes_missing_for_zero

    def noun(self, resource: str) -> str:
        """Usage of the resource."""
        return noun_of(resource, "usage")

    def share(self, node: Node, resource: str) -> float:
        """How much of the capacity of `node` is in use, between 0 and 1. Raises StrategyError where it is unknown."""
        found = self._measured_share(node, resource)
        if found is not None:
            return found
        if self._takes_missing_for_zero:
            return 0.0
        raise StrategyError(f"{resource} usage of node {node.name} is not known")

    def _measured_share(self, node: Node, resource: str) -> float | None:
        if self._queries is not None:
            query = self._queries.node_cpu if resource == CPU else self._queries.node_memory
            return self._samples(query).get(node.name)
        measured, capacity = self._snapshot.node_usage.get(node.name), node.capacity.get(resource, 0)
        if measured is None or not capacity:
            return None
        return measured.usage.get(resource, 0) / capacity

    def _samples(self, query: str) -> Mapping[str, float]:
        faults, samples = self._snapshot.sample_faults, self._snapshot.node_samples.get(query)
        if samples is None and not self._takes_missing_for_zero:
            raise StrategyError(faults.get(query, f"there are no samples of Prometheus query {query!r}"))
        return samples or {}

    def of_node(self, node: Node, pods: Sequence[Pod]) -> Mapping[str, int]:
        """CPU of the capacity, rounded up to whole cores, memory of the capacity, and the number of `pods`."""
        capacity = {CPU: ceil_value(node.capacity.get(CPU, 0)) * NANO, MEMORY: node.capacity.get(MEMORY, 0)}
        shares = {resource: self.share(node, resource) for resource in capacity}
        used = {resource: int(amount * shares[resource]) for resource, amount in capacity.items()}
        return {**used, PODS: len(pods) * NANO}

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """CPU, memory and one pod; None where one of them was not measured."""
        if self._queries is None:
            return self._server.of_pod(pod)
        cores, in_bytes = (self._samples(query).get(pod.key) for query in self._queries.all[2:])
        if cores is None or in_bytes is None:
            return None
        return {CPU: int(cores * NANO), MEMORY: int(in_bytes) * NANO, PODS: NANO}
