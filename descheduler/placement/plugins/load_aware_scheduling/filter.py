"""The filter of LoadAwareScheduling: koordinator-sh/koordinator 1.8 (`pkg/scheduler/plugins/loadaware/load_aware.go`
and `helper.go`).

It judges nodes as they are until the next report: what a pod used that is gone still counts. So a node that it refuses
may take a pod a minute later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.classes import is_prod
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import BY_REQUESTS, Interactions, OnOwnNode
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.plugins.helper.scores import Ints
from descheduler.placement.plugins.load_aware_scheduling.args import (
    Amounts,
    LoadAwareSchedulingArgs,
    Percentile,
    UsageLimits,
)
from descheduler.placement.plugins.load_aware_scheduling.node_loads import (
    PROD,
    THRESHOLDS_ANNOTATION,
    LoadsOf,
    resources_of,
)
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_EXPIRED_BIT = 1
_MOST_TOLD = 15
"""Resources that are told apart in reasons; more than these are told as the last of them."""


class OverLimit(NamedTuple):
    """A node whose usage of a resource would be above its limit."""

    resource: str
    is_aggregated: bool

    @property
    def reason(self) -> str:
        return f"node(s) {self.resource} {'aggregated ' if self.is_aggregated else ''}usage exceed threshold"

    @property
    def short(self) -> str:
        return f"measured {self.resource} usage above its threshold"


EXPIRED = Said("node(s) nodeMetric expired", "no current NodeMetric")
"""Of a node with a limit, whose NodeMetric is too old."""


class LimitInteractions(OnOwnNode):
    """Placed pods add to the usage of their own node.

    A node that is refused because of a pod that is gone opens with the next report, so any node may come to take a pod.
    """

    def can_be_helped(self, pod: Pod) -> bool:
        """Perhaps."""
        return True


class _Group(NamedTuple):
    """Nodes of the same limits."""

    limits: UsageLimits
    nodes: NDArray[np.intp]


class _Judged(NamedTuple):
    """Some nodes beside their limits: whose NodeMetric is too old, whose usage is known, and for each resource with a
    limit its name, the limit and the usage of each node with the pod, in percent."""

    is_old: BoolMask
    is_known: BoolMask
    shares: list[tuple[str, int, NDArray[np.float64]]]
    is_aggregated: bool


class LoadAwareScheduling:
    """Compares the usage of each node, with the pod on it, with limits: those of the arguments or of the node."""

    name = "LoadAwareScheduling"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._args = args = profile.args.of(LoadAwareSchedulingArgs)
        self._resources = resources_of(args)
        self._groups = _groups(cluster.table.nodes, args.limits)
        self._num_nodes = len(cluster.table)
        self.is_static = not self._groups
        self.interactions: Interactions = LimitInteractions() if self._groups else BY_REQUESTS
        self._loads = cluster.follow(LoadsOf(args, self._resources)) if self._groups else None

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Passes pods of DaemonSets, and all where there is no limit."""
        is_of_daemon_set = any(owner.kind == "DaemonSet" for owner in cycle.pod.pod.owners)
        return SKIP_FOR_GOOD if is_of_daemon_set or self.is_static else PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes above a limit, and those whose NodeMetric is too old to tell."""
        cycle.scratch[self.name] = self
        bits: ReasonBits = np.zeros(self._num_nodes, dtype=np.uint32)
        for group in self._groups:
            self._judge(cycle.pod.pod, group, bits)
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The first resource that is above its limit, or that nothing is known."""
        if bits == _EXPIRED_BIT:
            return Obstacle.of(self.name, Code.UNSCHEDULABLE, EXPIRED)
        place = bits.bit_length() - 2
        over = OverLimit(self._resources[place % _MOST_TOLD], is_aggregated=place >= _MOST_TOLD)
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, over)

    def shares_of(self, pod: Pod, node: int) -> Iterator[str]:
        """For each resource that is above its limit a sentence with both."""
        for group in self._groups:
            judged = self._judged(pod, group, np.array([node], dtype=np.intp)) if node in group.nodes else None
            for name, percent, shares in () if judged is None else judged.shares:
                if shares[0] > percent:
                    yield f"measured {name} usage would be {int(shares[0])}% with the pod (threshold: {percent})"

    def _judge(self, pod: Pod, group: _Group, bits: ReasonBits) -> None:
        """Notes the first reason against each of the nodes."""
        judged = self._judged(pod, group, group.nodes)
        if judged is None:
            return
        if self._args.refuses_expired:
            bits[group.nodes[judged.is_old]] = _EXPIRED_BIT
        for name, percent, shares in judged.shares:
            place = min(self._resources.index(name), _MOST_TOLD - 1) + _MOST_TOLD * judged.is_aggregated
            found = group.nodes[judged.is_known & (shares > percent)]
            bits[found[bits[found] == 0]] = 1 << (1 + place)

    def _judged(self, pod: Pod, group: _Group, nodes: NDArray[np.intp]) -> _Judged | None:
        """What the limits of `group` say of some of its nodes; None where none of them concerns the pod."""
        limits, loads = group.limits, self._loads
        of_prod = bool(limits.prod) and is_prod(pod)
        percents = [each for each in (limits.prod if of_prod else limits.whole) if each[1]]
        if loads is None or not percents:
            return None
        usage = PROD if of_prod else limits.percentile
        is_measured = loads.is_measured.take(nodes)
        is_old = is_measured & ~loads.is_current.take(nodes) & self._args.expires
        rows = {name: row for row, name in enumerate(self._resources)}
        used = loads.used(usage, nodes) + np.array(loads.estimates.of(pod), dtype=np.int64)[:, np.newaxis]
        shares = [
            (name, percent, _shares(used[rows[name]], loads.capacity[rows[name]].take(nodes)))
            for name, percent in percents
            if name in rows
        ]
        return _Judged(is_old, is_measured & ~is_old, shares, isinstance(usage, Percentile))


def _shares(used: Ints, capacity: Ints) -> NDArray[np.float64]:
    """The usage in whole percent; 0 without a capacity. Half is rounded up, and nothing is below 0."""
    shares: NDArray[np.float64] = np.floor(used / np.maximum(capacity, 1) * 100 + 0.5) * (capacity > 0)
    return shares


class _AggregatedWire(msgspec.Struct, rename="camel"):
    usage_thresholds: dict[str, int] | None = None
    usage_aggregation_type: str = ""
    usage_aggregated_duration: str | None = None


class _ThresholdsWire(msgspec.Struct, rename="camel"):
    usage_thresholds: dict[str, int] | None = None
    prod_usage_thresholds: dict[str, int] | None = None
    aggregated_usage: _AggregatedWire | None = None


_decode = msgspec.json.Decoder(_ThresholdsWire).decode


def _groups(nodes: tuple[Node, ...], limits: UsageLimits) -> list[_Group]:
    """The nodes that have any limit, by their limits."""
    found: dict[UsageLimits, list[int]] = {}
    for index, node in enumerate(nodes):
        text = node.annotations.get(THRESHOLDS_ANNOTATION, "")
        found.setdefault(_own_limits(text, limits) if text else limits, []).append(index)
    return [_Group(each, np.array(places, dtype=np.intp)) for each, places in found.items() if each.are_any]


def _own_limits(text: str, limits: UsageLimits) -> UsageLimits:
    """`limits` with what an annotation says in their place; as they are where it cannot be read."""
    try:
        own = _decode(text)
        prod = _sorted(own.prod_usage_thresholds) or limits.prod
        aggregated = _own_aggregated(own.aggregated_usage, prod)
    except (ValueError, RecursionError):
        return limits
    if aggregated is not None:
        return aggregated
    if limits.percentile is not None:
        return limits._replace(prod=prod)
    return UsageLimits(_sorted(own.usage_thresholds) or limits.whole, prod)


def _own_aggregated(wire: _AggregatedWire | None, prod: Amounts) -> UsageLimits | None:
    if wire is None or not wire.usage_thresholds or not wire.usage_aggregation_type:
        return None
    text = wire.usage_aggregated_duration
    percentile = Percentile(wire.usage_aggregation_type, parse_duration(text) if text else timedelta(0))
    return UsageLimits(_sorted(wire.usage_thresholds), prod, percentile)


def _sorted(percents: Mapping[str, int] | None) -> Amounts:
    return tuple(sorted((percents or {}).items()))
