"""HighNodeUtilization: pods of nodes that are nearly empty, so that fewer nodes carry the load."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Int64, Namespaces, check_exclude_only, check_in, check_percentages

__all__ = ["HighNodeUtilizationArgs", "validate_args"]

_EVICTION_MODES = ("OnlyThresholdingResources",)


class HighNodeUtilizationArgs(Args, frozen=True):
    """Arguments of HighNodeUtilization; usage is always that of the requests.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/types.go`.
    """

    evictable_namespaces: Namespaces | None = None
    thresholds: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Percent of allocatable by resource; a node at or below all of them is a source."""
    number_of_nodes: Int64 = 0
    eviction_modes: tuple[str, ...] = ()


def validate_args(args: HighNodeUtilizationArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the thresholds and the eviction modes."""
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *check_percentages("thresholds", args.thresholds),
        *check_in("evictionModes", args.eviction_modes, _EVICTION_MODES),
    ]
