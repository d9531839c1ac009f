"""Runs one strategy over a small cluster, with DefaultEvictor at its default arguments as the filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from descheduler.eviction.answers import EvictionAnswer
from descheduler.eviction.default_evictor import DefaultEvictor, DefaultEvictorArgs
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import StrategyHandle
from descheduler.eviction.limits import EvictionLimits
from descheduler.eviction.profile_evictor import PluginEvictor
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import PluginSpec
from descheduler.policy.types import PolicyKind
from descheduler.strategies.registry import REGISTRY
from tests.eviction.handles import make_handle


def make_strategy_handle(
    plugin: str,
    nodes: Iterable[Node],
    pods: Iterable[Pod],
    *,
    limits: EvictionLimits | None = None,
    answers: Mapping[str, EvictionAnswer] | None = None,
    evictor_args: Mapping[str, Any] | None = None,
    kind: PolicyKind = "DeschedulerPolicy",
    **others: Any,
) -> tuple[StrategyHandle, Evictor]:
    """What the strategy works with, and the evictor whose book it fills; others are fields of `Snapshot`."""
    handle = make_handle(nodes, pods, kind=kind, **others)
    evictor = Evictor(handle.shadow, limits or EvictionLimits(), answers=answers)
    plugin_filter = DefaultEvictor(msgspec.convert(evictor_args or {}, DefaultEvictorArgs), handle)
    plugin_evictor = PluginEvictor(
        evictor, profile="p", plugin=plugin, filters=[plugin_filter], pre_eviction_filters=[plugin_filter]
    )
    return StrategyHandle(handle.policy, handle.shadow, handle.node_fit, handle.now, plugin_evictor), evictor


def run_strategy(
    plugin: str,
    args: Mapping[str, Any],
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    *,
    processed_nodes: Sequence[Node] | None = None,
    **options: Any,
) -> Evictor:
    """The evictor after `plugin` ran over `processed_nodes`, all nodes unless given.

    `args` are in YAML spelling; options are those of `make_strategy_handle`.
    """
    spec: PluginSpec[Any] = REGISTRY[plugin]
    handle, evictor = make_strategy_handle(plugin, nodes, pods, **options)
    strategy: Any = spec.factory(spec.defaults(msgspec.convert(args, spec.args_type)), handle)
    run = strategy.deschedule if "deschedule" in spec.extension_points else strategy.balance
    run(nodes if processed_nodes is None else processed_nodes)
    return evictor


def evicted(
    plugin: str, args: Mapping[str, Any], nodes: Sequence[Node], pods: Iterable[Pod], **options: Any
) -> list[str]:
    """Names of the pods that `plugin` evicts, in order; the arguments of `run_strategy`."""
    return [booked.pod.name for booked in run_strategy(plugin, args, nodes, pods, **options).booked]
