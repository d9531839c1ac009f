"""HighNodeUtilization: pods of nodes that are nearly empty, so that fewer nodes carry the load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int64,
    Namespaces,
    Percent,
    check_exclude_only,
    check_in,
    check_percentages,
    one_of,
)
from descheduler.strategies.node_utilization.classify import (
    NodeLoad,
    free_resources,
    is_underused,
    measure,
    sort_by_usage,
)
from descheduler.strategies.node_utilization.eviction import Destinations, NodeRelief, Relief
from descheduler.strategies.node_utilization.usage import RequestedUsage, resources_in_play

__all__ = ["HighNodeUtilization", "HighNodeUtilizationArgs", "validate_args"]

_ONLY_THRESHOLDING_RESOURCES = "OnlyThresholdingResources"
_EVICTION_MODES = (_ONLY_THRESHOLDING_RESOURCES,)


class HighNodeUtilizationArgs(Args, frozen=True):
    """Arguments of HighNodeUtilization; usage is always that of the requests.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/types.go`.
    """

    evictable_namespaces: Namespaces | None = None
    """Namespaces whose pods stay; only `exclude` may be given."""
    thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Percent of allocatable by resource; a node at or below all of them is a source."""
    number_of_nodes: Int64 = 0
    """The plugin acts only when more nodes than this are underused."""
    eviction_modes: tuple[Annotated[str, one_of(_EVICTION_MODES)], ...] = ()
    """`OnlyThresholdingResources` keeps pods that request no resource of `thresholds`."""


def validate_args(args: HighNodeUtilizationArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the thresholds and the eviction modes."""
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *check_percentages("thresholds", args.thresholds),
        *check_in("evictionModes", args.eviction_modes, _EVICTION_MODES),
    ]


class HighNodeUtilization:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/highnodeutilization.go`."""

    def __init__(self, args: HighNodeUtilizationArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts from underused nodes, cordoned ones too, what fits into the room that the others have together."""
        source = RequestedUsage(resources_in_play(self._args.thresholds))
        loads = measure(nodes, self._handle.view, source)
        underused = [load for load in loads if is_underused(load.percent, self._args.thresholds)]
        givers = {load.node.name for load in underused}
        takers = [load for load in loads if load.node.name not in givers and not load.node.unschedulable]
        if len(underused) <= max(0, self._args.number_of_nodes) or not takers:
            return
        namespaces = self._args.evictable_namespaces
        relief = NodeRelief(
            self._handle.evictor,
            source,
            Destinations(
                takers,
                free_resources(takers, dict.fromkeys(self._args.thresholds, 100.0)),
                counts_tolerations=self._handle.policy.compatibility == "upstream",
            ),
            spared_namespaces=frozenset(namespaces.exclude if namespaces else ()),
            may_leave=self._is_worth_moving,
        )
        relief.charge_departed(underused)
        relief.run([Relief(load, self._sentence(load)) for load in sort_by_usage(underused, ascending=True)])

    def _is_worth_moving(self, pod: Pod) -> bool:
        """Whether, if the eviction mode asks for it, a container states a request of a resource with a threshold."""
        if _ONLY_THRESHOLDING_RESOURCES not in self._args.eviction_modes:
            return True
        spec = pod.spec
        return any(
            resource in container.requests
            for container in (*spec.containers, *spec.init_containers)
            for resource in self._args.thresholds
        )

    def _sentence(self, load: NodeLoad) -> str:
        used = [
            f"{load.percent.get(resource, 0.0):.1f}% of its {resource} (threshold {limit:g}%)"
            for resource, limit in sorted(self._args.thresholds.items())
        ]
        return f"node {load.node.name} uses only {' and '.join(used)}, and other nodes have room"
