"""What runs by default, and what a profile makes of the defaults.

The way sets are merged and expanded is that of Kubernetes 1.37
(`pkg/scheduler/apis/config/v1/default_plugins.go`, `pkg/scheduler/framework/runtime/framework.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
from descheduler.policy.shared_args import Args

_Weight = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
EVERYTHING = "*"
"""Among `disabled`, stands for every default plugin."""


class PluginSection(Args, frozen=True):
    """One plugin of a set; the weight counts where it scores."""

    name: str = ""
    weight: _Weight | None = None


class SchedulerPluginSetSection(Args, frozen=True):
    """What a profile adds to one extension point, and which defaults it takes out."""

    enabled: tuple[PluginSection, ...] = ()
    disabled: tuple[PluginSection, ...] = ()


class SchedulerPluginsSection(Args, frozen=True):
    """`plugins` of a profile; `multi_point` stands for every extension point that a plugin implements."""

    pre_enqueue: SchedulerPluginSetSection = SchedulerPluginSetSection()
    queue_sort: SchedulerPluginSetSection = SchedulerPluginSetSection()
    pre_filter: SchedulerPluginSetSection = SchedulerPluginSetSection()
    filter: SchedulerPluginSetSection = SchedulerPluginSetSection()
    post_filter: SchedulerPluginSetSection = SchedulerPluginSetSection()
    pre_score: SchedulerPluginSetSection = SchedulerPluginSetSection()
    score: SchedulerPluginSetSection = SchedulerPluginSetSection()
    reserve: SchedulerPluginSetSection = SchedulerPluginSetSection()
    permit: SchedulerPluginSetSection = SchedulerPluginSetSection()
    pre_bind: SchedulerPluginSetSection = SchedulerPluginSetSection()
    bind: SchedulerPluginSetSection = SchedulerPluginSetSection()
    post_bind: SchedulerPluginSetSection = SchedulerPluginSetSection()
    placement_generate: SchedulerPluginSetSection = SchedulerPluginSetSection()
    placement_score: SchedulerPluginSetSection = SchedulerPluginSetSection()
    multi_point: SchedulerPluginSetSection = SchedulerPluginSetSection()


POINTS = tuple(name for name in SchedulerPluginsSection.__struct_fields__ if name != "multi_point")
"""The extension points, as fields of `SchedulerPluginsSection`."""
_SPELLINGS = dict(
    zip(SchedulerPluginsSection.__struct_fields__, SchedulerPluginsSection.__struct_encode_fields__, strict=True)
)


def field_of(point: str) -> str:
    """The key of a document for the extension point `point`, such as `preFilter` for `pre_filter`."""
    return _SPELLINGS[point]


REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Plugins that kube-scheduler refuses; NodeVolumeLimits does their work."""


def default_plugins(version: KubeVersion, table: Mapping[str, PluginSettings]) -> tuple[PluginSection, ...]:
    """What runs by default, in running order, in the scheduler of `version`; `table` has the order of the newest."""
    found: list[PluginSection] = []
    for name, row in table.items():
        default = row.by_default
        if default is not None and (not default.gate or version.gate(default.gate)):
            leads = bool(default.leads_without) and not version.gate(default.leads_without)
            found.insert(len(found) - leads, PluginSection(name, default.weight))
    return tuple(found)


def merge_multi_point(
    defaults: tuple[PluginSection, ...], section: SchedulerPluginSetSection
) -> tuple[PluginSection, ...]:
    """The plugins of a profile's `multiPoint`: the defaults that are left, in their place, then the others it enables.

    A default that is enabled again stays in its place and takes the weight given there, or none. One that is enabled
    twice is there twice; that is for the caller to refuse.
    """
    disabled = {plugin.name for plugin in section.disabled}
    kept = () if EVERYTHING in disabled else tuple(plugin for plugin in defaults if plugin.name not in disabled)
    # Of several equal entries the last one replaces the default, and the others are left behind.
    last = {plugin.name: index for index, plugin in enumerate(section.enabled)}
    replaced = {last[plugin.name] for plugin in kept if plugin.name in last}
    return (
        *(section.enabled[last[plugin.name]] if plugin.name in last else plugin for plugin in kept),
        *(plugin for index, plugin in enumerate(section.enabled) if index not in replaced),
    )


def expand(
    point: str,
    section: SchedulerPluginSetSection,
    multi_point: tuple[PluginSection, ...],
    known: Mapping[str, PluginSettings],
) -> tuple[str, ...]:
    """The names that run at `point`, in running order: `section` of the profile, filled up from `multi_point`.

    A plugin that stands in both runs first, in the order of `section`; then come the others of `multi_point` that
    implement the point and are not disabled there; then the rest of `section`. Of a plugin that is not `known` it is
    not known what it implements, so `multi_point` brings none.
    """
    explicit = tuple(plugin.name for plugin in section.enabled)
    disabled = {plugin.name for plugin in section.disabled}
    if EVERYTHING in disabled:
        return explicit
    offered = [
        plugin.name
        for plugin in multi_point
        if plugin.name in known and point in known[plugin.name].points and plugin.name not in disabled
    ]
    return (
        *(name for name in explicit if name in offered),
        *(name for name in offered if name not in explicit),
        *(name for name in explicit if name not in offered),
    )


def weight_of(name: str, score: SchedulerPluginSetSection, multi_point: tuple[PluginSection, ...]) -> int:
    """The weight of the scorer `name`, as given under `score` or else under `multiPoint`; 1 where none is given."""
    for plugin in (*score.enabled, *multi_point):
        if plugin.name == name:
            return plugin.weight or 1
    return 1
