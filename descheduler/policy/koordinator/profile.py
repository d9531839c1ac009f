"""Profiles of a DeschedulerConfiguration: plugin sets merged with the defaults, arguments, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from descheduler.documents.decode import Decoder, Path
from descheduler.documents.document import TreeNode
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.selection.labels import LabelError, LabelSelector
from descheduler.policy.checks import Checks
from descheduler.policy.plugin import ExtensionPoint, PluginSpec, Registry
from descheduler.policy.plugin_args import (
    ArgsReader,
    PluginConfigSection,
    unknown_plugin,
    used_strategies,
    used_strategy_problem,
    wrong_extension_point,
)
from descheduler.policy.priority_thresholds import threshold_of, too_high, with_threshold_value
from descheduler.policy.shared_args import Args, LabelSelectorArg, compile_selector
from descheduler.policy.types import PluginConfig, Profile

POINTS: Mapping[str, frozenset[ExtensionPoint]] = {
    "deschedule": frozenset({"deschedule"}),
    "balance": frozenset({"balance"}),
    "evict": frozenset({"evict"}),
    "filter": frozenset({"filter", "preEvictionFilter"}),
}
"""Plugin sets and what a plugin in them has to implement one of."""

DEFAULT_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "deschedule": (),
    "balance": (),
    "evict": ("MigrationController",),
    "filter": ("MigrationController", "PlacementVerification"),
}
"""What runs in each set unless it is disabled there."""

OWN_DEFAULTS = frozenset({"PlacementVerification"})
"""The plugins that Koordinator does not have. A `*` is written to replace Koordinator's defaults, by people who may
not know of ours, so that only their names disable these."""


class PluginReference(Args, frozen=True):
    """One plugin, by name."""

    name: str = ""
    """Name of the plugin."""


class KoordinatorPluginSetSection(Args, frozen=True):
    """One plugin set as written; `*` among `disabled` stands for every default of Koordinator."""

    enabled: tuple[PluginReference, ...] = ()
    """Plugins that run after the defaults, in this order."""
    disabled: tuple[PluginReference, ...] = ()
    """Defaults that do not run; `*` stands for all of Koordinator's."""


class KoordinatorPluginsSection(Args, frozen=True):
    """All plugin sets of a profile."""

    deschedule: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that look at single pods; they run first."""
    balance: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that look at groups of pods or at nodes; they run after all of `deschedule`."""
    evict: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """The one plugin that evicts; `MigrationController` by default."""
    filter: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that say which pods may go; `MigrationController` and `PlacementVerification` by default."""


def merge_plugin_set(defaults: Sequence[str], section: KoordinatorPluginSetSection) -> tuple[str, ...]:
    """The plugins that run: defaults that are not disabled, in their place, then the other enabled ones, in order.

    With `*`, those of `OWN_DEFAULTS` are kept, in the place that the section gives them, else ahead. A plugin enabled
    twice is there twice; that is for the caller to refuse. Mirrors koordinator-sh/koordinator 1.8
    `pkg/descheduler/apis/config/v1alpha2/default_plugins.go`.
    """
    disabled = {plugin.name for plugin in section.disabled}
    enabled = [plugin.name for plugin in section.enabled]
    kept = [name for name in defaults if name not in disabled]
    if _EVERYTHING in disabled:
        kept = [name for name in kept if name in OWN_DEFAULTS and name not in enabled]
    # Like the original, a default takes the last of several equal entries with it, and leaves the others behind.
    replaced = {len(enabled) - 1 - enabled[::-1].index(name) for name in kept if name in enabled}
    return (*kept, *(name for index, name in enumerate(enabled) if index not in replaced))


_EVICTOR = "DefaultEvictor"
_EVERYTHING = "*"


class KoordinatorProfileSection(Args, frozen=True):
    """One entry of `profiles`."""

    name: str = ""
    """Name of the profile; required when there are several."""
    plugin_config: tuple[PluginConfigSection, ...] = ()
    """Arguments, an entry for each plugin that does not run with its defaults."""
    plugins: KoordinatorPluginsSection = KoordinatorPluginsSection()
    """Which plugins run, by extension point."""
    node_selector: LabelSelectorArg | None = None
    """Nodes that the profile's plugins look at; all nodes when unset."""


class ProfileReader:
    """Reads the profile in `section`, the `index`-th of the document; what is wrong is recorded in `checks`."""

    def __init__(self, checks: Checks, section: KoordinatorProfileSection, index: int, registry: Registry) -> None:
        self._checks = checks
        self._section = section
        self._registry = registry
        self._path: Path = ("profiles", index)
        self._sets: dict[str, tuple[str, ...]] = {
            key: merge_plugin_set(DEFAULT_PLUGINS[key], getattr(section.plugins, key)) for key in POINTS
        }
        enabled = set[str]().union(*self._sets.values())
        self._used = used_strategies(checks.load.document, registry, enabled, section.plugin_config)
        self._enabled = enabled.union(self._used.values())

    def read(self) -> Profile:
        """Every enabled plugin has arguments in it, defaults for those without an entry of `pluginConfig`."""
        for key in POINTS:
            self._check_set(key)
        self._check_evict()
        self._check_used()
        configs = self._read_configs()
        return Profile(
            name=self._section.name,
            plugin_configs=(*configs, *self._default_configs()),
            deschedule=self._sets["deschedule"],
            balance=self._sets["balance"],
            filter=self._implementing("filter"),
            pre_eviction_filter=self._implementing("preEvictionFilter"),
            evict=self._sets["evict"],
            used=tuple(dict.fromkeys(self._used.values())),
            node_selector=self._compile_selector(),
            node_selector_spec=self._section.node_selector,
        )

    def _implementing(self, point: ExtensionPoint) -> tuple[str, ...]:
        """The filter plugins that implement `point`; most implement both."""
        return tuple(
            name
            for name in self._sets["filter"]
            if name in self._registry and point in self._registry[name].extension_points
        )

    def _compile_selector(self) -> LabelSelector | None:
        try:
            return compile_selector(self._section.node_selector)
        except LabelError as error:
            self._checks.fail_build((*self._path, "nodeSelector"), str(error))
            return None

    def _check_set(self, key: str) -> None:
        path = (*self._path, "plugins", key)
        section: KoordinatorPluginSetSection = getattr(self._section.plugins, key)
        seen = set[str]()
        for index, plugin in enumerate(section.enabled):
            place = (*path, "enabled", index, "name")
            spec = self._registry.get(plugin.name)
            if spec is None:
                self._checks.fail_build(place, unknown_plugin(plugin.name, self._registry))
            elif not spec.extension_points & POINTS[key]:
                offered = [point for points in POINTS.values() for point in points]
                self._checks.fail_build(place, wrong_extension_point(spec, key, offered))
            if plugin.name in seen:
                self._checks.fail_build(place, f"plugin {shown(plugin.name)} is enabled twice in this set")
            seen.add(plugin.name)
        for index, plugin in enumerate(section.disabled):
            if plugin.name not in (_EVERYTHING, *self._registry):
                hint = did_you_mean(plugin.name, self._registry)
                place = (*path, "disabled", index, "name")
                self._checks.warn(place, f"unknown plugin {shown(plugin.name)}, ignored{hint}")

    def _check_used(self) -> None:
        for path, name in self._used.items():
            if message := used_strategy_problem(name, self._registry):
                self._checks.fail_build((*self._path, "pluginConfig", *path), message)

    def _check_evict(self) -> None:
        names = self._sets["evict"]
        path = (*self._path, "plugins", "evict")
        if not names:
            self._checks.fail_build(path, "no evict plugin is left; enable exactly one, such as MigrationController")
        elif len(set(names)) > 1:
            listed = " and ".join(shown(name) for name in names)
            message = f"{listed} would all evict; keep one, and disable the default with '- name: \"*\"'"
            self._checks.fail_build(path, message)

    def _read_configs(self) -> list[PluginConfig]:
        configs: list[PluginConfig] = []
        seen = set[str]()
        for index, section in enumerate(self._section.plugin_config):
            path = (*self._path, "pluginConfig", index)
            if section.name in seen:
                self._checks.fail_load((*path, "name"), f"{shown(section.name)} is configured twice; keep one of them")
                continue
            seen.add(section.name)
            config = self._read_config(section, path)
            if config is not None:
                configs.append(config)
        return configs

    def _read_config(self, section: PluginConfigSection, path: Path) -> PluginConfig | None:
        spec = self._registry.get(section.name)
        if spec is None:
            self._report_unknown(section.name, (*path, "name"))
            return None
        args_path = (*path, "args")
        node = self._checks.args_node(section.args, path)
        decoder = self._decoder_for(spec)
        args = ArgsReader(decoder, "error").read(spec, node, args_path)
        if spec.name not in self._enabled:
            self._checks.warn(path, f"{spec.name} is configured but not enabled in this profile")
            if not spec.native:
                return None
        if args is None:
            return None
        if spec.name in self._enabled:
            self._check_construction(spec, args, node, args_path)
        mark = self._checks.node((*args_path, "priorityThreshold", "name")).mark
        place = (mark.line, mark.column) if mark else None
        return PluginConfig(spec.name, self._with_threshold(spec, args, args_path), args_path, place)

    def _check_construction(self, spec: PluginSpec[Any], args: msgspec.Struct, node: TreeNode, path: Path) -> None:
        reader = ArgsReader(self._checks.build, "error")
        reader.record_construction(spec, args, node, path, self._checks.read_scheduler_file)

    def _decoder_for(self, spec: PluginSpec[Any]) -> Decoder:
        """Where problems of a plugin's arguments go.

        Koordinator decodes its own kinds with the document, those of other plugins when they are built, and those of
        other plugins that are not enabled never.
        """
        if spec.native:
            return self._checks.load
        return self._checks.build if spec.name in self._enabled else Decoder(self._checks.load.document)

    def _report_unknown(self, name: str, path: Path) -> None:
        if name not in self._enabled:
            self._checks.fail_load(path, unknown_plugin(name, self._registry))

    def _with_threshold(self, spec: PluginSpec[Any], args: msgspec.Struct, path: Path) -> msgspec.Struct:
        if spec.name != _EVICTOR:
            return args
        threshold = threshold_of(args)
        if threshold is None:
            return with_threshold_value(args)
        if threshold.value is not None and (message := too_high(threshold.value)):
            self._checks.fail_build((*path, "priorityThreshold", "value"), message)
        return args

    def _default_configs(self) -> list[PluginConfig]:
        names = dict.fromkeys((*(name for key in POINTS for name in self._sets[key]), *self._used.values()))
        given = {section.name for section in self._section.plugin_config}
        configs = []
        for name in names:
            spec = self._registry.get(name)
            if spec is None or name in given:
                continue
            node, path = TreeNode(None, self._checks.node((*self._path, "plugins")).mark), (*self._path, "pluginConfig")
            args = ArgsReader(self._checks.build, "error").read(spec, node, (*path, name))
            if args is not None:
                self._check_construction(spec, args, node, (*path, name))
                configs.append(PluginConfig(name, self._with_threshold(spec, args, path)))
        return configs
