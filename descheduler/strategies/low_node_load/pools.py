"""Pools of nodes with their settings and their thresholds as they are in effect.

The settings of the plugin make the first pool, the entries of `nodePools` the others. Thresholds mirror
koordinator-sh/koordinator 1.8 `newThresholds` and `getNodeThresholds` in `pkg/descheduler/framework/plugins/loadaware`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from descheduler.model.node import Node
from descheduler.model.quantity import ceil_milli
from descheduler.model.requests import MEMORY, ResourceList, ceil_amount
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    LabelSelectorArg,
    check_namespaces,
    check_pod_selectors,
    check_selector,
    compile_selector,
)
from descheduler.strategies.low_node_load.args import LoadAnomalyCondition, LowNodeLoadArgs, LowNodeLoadNodePool
from descheduler.strategies.node_utilization.thresholds import part_of

_FIRST = "__default_node_pool__"
_UNCONDITIONAL = LoadAnomalyCondition(consecutive_abnormalities=1, consecutive_normalities=1)


class StatedThresholds(msgspec.Struct, frozen=True):
    """One pair of maps of the policy, percent by resource. `low_key` and `high_key` are their names there."""

    low_key: str
    high_key: str
    low: Mapping[str, float]
    high: Mapping[str, float]


class NodePool(msgspec.Struct, frozen=True):
    """Nodes with settings of their own. `path` is where these stand below `args`, empty for those of the plugin."""

    path: tuple[str | int, ...]
    name: str
    selector: LabelSelectorArg | None
    uses_deviation: bool
    node: StatedThresholds
    prod: StatedThresholds
    weights: Mapping[str, int]
    condition: LoadAnomalyCondition

    def members(self, nodes: Sequence[Node], relieved: frozenset[str]) -> Sequence[Node]:
        """The nodes of the pool; those `relieved` in an earlier one belong to a pool without a selector alone."""
        selector = compile_selector(self.selector)
        if selector is None:
            return nodes
        return [node for node in nodes if node.name not in relieved and selector.matches(node.labels)]


def pools_of(args: LowNodeLoadArgs) -> Iterator[NodePool]:
    """The pools in the order in which they have their turn, with what they have of the plugin."""
    yield _pool(args, (), _FIRST)
    for index, given in enumerate(args.node_pools):
        yield _pool(args, ("nodePools", index), given.name, given)


def _pool(
    args: LowNodeLoadArgs, path: tuple[str | int, ...], name: str, given: LowNodeLoadNodePool | None = None
) -> NodePool:
    def of(field: str) -> Mapping[str, float]:
        own: Mapping[str, float] | None = getattr(given or args, field)
        return (getattr(args, field) if own is None else own) or {}

    weights = given.resource_weights if given is not None else None
    condition = given.anomaly_condition if given is not None else None
    source = args if given is None else given
    return NodePool(
        path=path,
        name=name,
        selector=source.node_selector,
        uses_deviation=source.use_deviation_thresholds,
        node=StatedThresholds("lowThresholds", "highThresholds", of("low_thresholds"), of("high_thresholds")),
        prod=StatedThresholds(
            "prodLowThresholds", "prodHighThresholds", of("prod_low_thresholds"), of("prod_high_thresholds")
        ),
        weights=(args.resource_weights or {}) if weights is None else weights,
        condition=condition or args.anomaly_condition or _UNCONDITIONAL,
    )


def construction_problems(args: LowNodeLoadArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built, in `args` as they are after `default_args`.

    Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/apis/config/validation/validation_loadaware.go`.
    """
    problems = []
    if args.number_of_nodes < 0:
        problems.append(ArgsProblem(("numberOfNodes",), f"{args.number_of_nodes} is below 0"))
    if args.node_metric_expiration_seconds <= 0:
        message = f"{args.node_metric_expiration_seconds} is not above 0"
        problems.append(ArgsProblem(("nodeMetricExpirationSeconds",), message))
    return [
        *problems,
        *check_namespaces(args.evictable_namespaces, "evictableNamespaces"),
        *check_pod_selectors(entry.selector for entry in args.pod_selectors),
        *(problem for pool in pools_of(args) for problem in _problems_of(pool)),
    ]


def _problems_of(pool: NodePool) -> Iterator[ArgsProblem]:
    found = [
        *check_selector("nodeSelector", pool.selector),
        *_negative(pool.node.high_key, pool.node.high),
        *_negative(pool.node.low_key, pool.node.low),
        *_negative(pool.prod.high_key, pool.prod.high),
        *_negative(pool.prod.low_key, pool.prod.low),
        *_above(pool.node.low_key, pool.node.low, pool.node.high_key, pool.node.high),
        *_above(pool.prod.high_key, pool.prod.high, pool.node.high_key, pool.node.high),
        *_above(pool.prod.low_key, pool.prod.low, pool.prod.high_key, pool.prod.high),
        *_counts(pool.condition),
    ]
    for problem in found:
        yield ArgsProblem((*pool.path, *problem.path), problem.message)


def _negative(key: str, percent: Mapping[str, float]) -> Iterator[ArgsProblem]:
    for resource, value in sorted(percent.items()):
        if value < 0:
            yield ArgsProblem((key, resource), f"{value:g} is below 0 (percent)")


def _above(
    key: str, percent: Mapping[str, float], bound_key: str, bounds: Mapping[str, float]
) -> Iterator[ArgsProblem]:
    for resource, value in sorted(percent.items()):
        if resource in bounds and value > bounds[resource]:
            message = f"{value:g} is above {bound_key}.{resource} ({bounds[resource]:g})"
            yield ArgsProblem((key, resource), message)


def _counts(condition: LoadAnomalyCondition) -> Iterator[ArgsProblem]:
    counts = {
        "consecutiveAbnormalities": condition.consecutive_abnormalities,
        "consecutiveNormalities": condition.consecutive_normalities,
    }
    for key, count in counts.items():
        if not count:
            yield ArgsProblem(("anomalyCondition", key), "is 0 or missing; set it to at least 1")


_FULL, _NO_DISTANCE = 100.0, 0.0


def resources_of(pool: NodePool) -> tuple[str, ...]:
    """The resources that any threshold of `pool` names, and memory, in name order."""
    stated = (pool.node.low, pool.node.high, pool.prod.low, pool.prod.high)
    return tuple(sorted({MEMORY, *(resource for percent in stated for resource in percent)}))


class LoadThresholds(msgspec.Struct, frozen=True):
    """One pair of maps in effect, percent by resource. With an `average` they are distances from it.

    A resource that the low map does not name has no effect, whatever the high one says of it.
    """

    stated: StatedThresholds
    low: Mapping[str, float]
    high: Mapping[str, float]
    average: Mapping[str, float] | None = None

    @classmethod
    def of(
        cls, stated: StatedThresholds, resources: Iterable[str], average: Mapping[str, float] | None = None
    ) -> LoadThresholds:
        """Those that `stated` comes to over `resources`."""
        neutral = _FULL if average is None else _NO_DISTANCE
        missing = {resource: neutral for resource in resources if resource not in stated.low}
        return cls(stated, {**stated.low, **missing}, {**stated.high, **missing}, average)

    def low_amounts(self, capacity: ResourceList) -> ResourceList:
        """The low thresholds of a node with this capacity, in nano units."""
        return self._amounts(capacity, self.low, sign=-1)

    def high_amounts(self, capacity: ResourceList) -> ResourceList:
        """The high thresholds of a node with this capacity, in nano units; 0 where only the low map has a resource."""
        return self._amounts(capacity, self.high, sign=1)

    def effective(self, percent: Mapping[str, float], resource: str, *, sign: int) -> float:
        """The percent of allocatable that `percent` (one of the two maps) comes to."""
        stated = percent.get(resource, 0.0)
        if self.average is None:
            return stated
        if self.low[resource] == _NO_DISTANCE:
            return _FULL
        return min(100.0, max(0.0, self.average.get(resource, 0.0) + sign * stated))

    def _amounts(self, capacity: ResourceList, percent: Mapping[str, float], *, sign: int) -> ResourceList:
        amounts = {}
        for resource in self.low:
            whole = capacity.get(resource, 0)
            if self.average is not None and self.low[resource] == _NO_DISTANCE:
                amounts[resource] = whole
            else:
                amounts[resource] = part_of(whole, self.effective(percent, resource, sign=sign), resource)
        return amounts


def usage_percent(usage: ResourceList, capacity: ResourceList) -> Mapping[str, float]:
    """Percent of the capacity by resource; those that a node does not have are left out."""
    return {
        resource: 100 * float(ceil_milli(nano)) / float(ceil_milli(capacity[resource]))
        for resource, nano in usage.items()
        if capacity.get(resource, 0)
    }


def average_percent(loads: Sequence[tuple[ResourceList, ResourceList]]) -> Mapping[str, float]:
    """The average over nodes of the usage in percent of the capacity, given in pairs, by resource."""
    total: dict[str, float] = {}
    for usage, capacity in loads:
        for resource, nano in usage.items():
            if whole := capacity.get(resource, 0):
                percent = float(ceil_amount(resource, nano)) / float(ceil_amount(resource, whole)) * 100.0
                total[resource] = total.get(resource, 0.0) + percent
    return {resource: percent / len(loads) for resource, percent in total.items()}
