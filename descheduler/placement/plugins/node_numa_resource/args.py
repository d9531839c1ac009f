"""The arguments of NodeNUMAResource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast, get_args

import msgspec

from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.policy.shared_args import Args

__all__ = ["ARGS", "NodeNUMAResourceArgs"]

_Strategy = Literal["LeastAllocated", "MostAllocated"]
_STRATEGIES: tuple[_Strategy, ...] = get_args(_Strategy)
_BindPolicy = Literal["FullPCPUs", "SpreadByPCPUs"]
_BIND_POLICIES: tuple[_BindPolicy, ...] = get_args(_BindPolicy)


class NodeNUMAResourceArgs(msgspec.Struct, frozen=True):
    """How nodes are scored: by the weighted mean of what is free, or taken, of some resources.

    `bind_policy` says how CPUs are chosen for pods that do not say it; `fills_numa_nodes` that they are taken where the
    fewest are left.
    """

    strategy: _Strategy = "LeastAllocated"
    weights: Mapping[str, int] = msgspec.field(default_factory=lambda: {CPU: 1, MEMORY: 1})
    bind_policy: _BindPolicy = "FullPCPUs"
    fills_numa_nodes: bool = False


class NUMAScoredResourceSection(Args, frozen=True):
    """A resource and its weight."""

    name: str = ""
    """Name of the resource."""
    weight: int = 1
    """1 to 100."""


class NUMAScoringSection(Args, frozen=True):
    """How nodes are scored."""

    type: str = "LeastAllocated"
    """`LeastAllocated` (the default) prefers empty nodes, `MostAllocated` full ones."""
    resources: tuple[NUMAScoredResourceSection, ...] = ()
    """What is scored; without `scoringStrategy` cpu and memory alike."""


class NodeNUMAResourceSection(Args, frozen=True):
    """`NodeNUMAResourceArgs` of koord-scheduler 1.8."""

    default_cpu_bind_policy: str = ""
    """How CPUs are chosen for pods that do not say it: `FullPCPUs` (the default) or `SpreadByPCPUs`."""
    scoring_strategy: NUMAScoringSection | None = None
    """How nodes are scored."""
    numa_scoring_strategy: NUMAScoringSection | None = None
    """With `type: MostAllocated` CPUs are taken from the NUMA node with the fewest CPUs left; no other effect here."""


def _read(block: ArgsBlock, section: NodeNUMAResourceSection) -> NodeNUMAResourceArgs | None:
    scoring, numa = section.scoring_strategy or NUMAScoringSection(), section.numa_scoring_strategy
    block.choose(("scoringStrategy", "type"), scoring.type, _STRATEGIES)
    bind_policy = section.default_cpu_bind_policy or _BIND_POLICIES[0]
    block.choose(("defaultCPUBindPolicy",), bind_policy, _BIND_POLICIES)
    args = NodeNUMAResourceArgs(
        cast(_Strategy, scoring.type),
        bind_policy=cast(_BindPolicy, bind_policy),
        fills_numa_nodes=numa is not None and numa.type == "MostAllocated",
    )
    if section.scoring_strategy is None:
        return args
    weights = {each.name: each.weight for each in scoring.resources}
    return NodeNUMAResourceArgs(args.strategy, weights, args.bind_policy, args.fills_numa_nodes)


ARGS = ArgsKind(NodeNUMAResourceSection, _read, NodeNUMAResourceArgs)
