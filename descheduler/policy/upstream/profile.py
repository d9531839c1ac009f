"""Profiles of a DeschedulerPolicy: arguments, plugin lists, and whether the two go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from descheduler.documents.decode import Path, Strictness
from descheduler.documents.document import TreeNode, member_text
from descheduler.policy.checks import Checks
from descheduler.policy.plugin import ExtensionPoint, Registry
from descheduler.policy.plugin_args import (
    ArgsReader,
    PluginConfigSection,
    unknown_plugin,
    used_strategies,
    used_strategy_problem,
    wrong_extension_point,
)
from descheduler.policy.priority_thresholds import threshold_of, too_high, with_threshold_value
from descheduler.policy.shared_args import Args
from descheduler.policy.types import Compatibility, PluginConfig, Profile

_EVICTOR = "DefaultEvictor"
POINTS: Mapping[str, ExtensionPoint] = {
    "deschedule": "deschedule",
    "balance": "balance",
    "filter": "filter",
    "preevictionfilter": "preEvictionFilter",
    "preEvictionFilter": "preEvictionFilter",
}
"""The extension point of each plugin set that has an effect, by its YAML key."""
_DOCUMENTED = "preEvictionFilter"
"""How the reference's documentation spells `preevictionfilter`, and what its code does not read."""
_LENIENT = Strictness("warning", "warning")


class PluginSetSection(Args, frozen=True):
    """Names of one plugin set."""

    enabled: tuple[str, ...] = ()
    """Plugins that run, in this order."""
    disabled: tuple[str, ...] = ()
    """Has no effect in a DeschedulerPolicy."""


class PluginsSection(Args, frozen=True):
    """The plugin sets. `pre_eviction_filter` is the node of the documented spelling, or None."""

    presort: PluginSetSection = PluginSetSection()
    """Has no effect."""
    sort: PluginSetSection = PluginSetSection()
    """Has no effect."""
    deschedule: PluginSetSection = PluginSetSection()
    """Plugins that look at single pods; they run first."""
    balance: PluginSetSection = PluginSetSection()
    """Plugins that look at groups of pods or at nodes; they run after all of `deschedule`."""
    filter: PluginSetSection = PluginSetSection()
    """Plugins that say which pods may go; `DefaultEvictor` always runs."""
    preevictionfilter: PluginSetSection = PluginSetSection()
    """Plugins that are asked before each eviction; `DefaultEvictor` always runs."""
    pre_eviction_filter: object = None
    """The documented spelling of `preevictionfilter`; read only with `compatibility: fixed`."""


class ProfileSection(Args, frozen=True):
    """One entry of `profiles`."""

    name: str = ""
    """Name of the profile, for logs and metrics."""
    plugin_config: tuple[PluginConfigSection, ...] = ()
    """Arguments, an entry for each plugin. Every enabled plugin needs one."""
    plugins: PluginsSection = PluginsSection()
    """Which plugins run, by extension point."""


class ProfileReader:
    """Reads the profile in `section`, the `index`-th of the document; what is wrong is recorded in `checks`.

    Mirrors kubernetes-sigs/descheduler 0.36 `pkg/descheduler/policyconfig.go` and `pkg/framework/profile/profile.go`.
    """

    def __init__(
        self, checks: Checks, section: ProfileSection, index: int, registry: Registry, compatibility: Compatibility
    ) -> None:
        self._checks = checks
        self._section = section
        self._registry = registry
        self._path: Path = ("profiles", index)
        self._sets = self._read_sets(reads_documented=compatibility == "fixed")
        self._enabled = {key: self._sets[key].enabled if key in self._sets else () for key in POINTS}
        enabled = {_EVICTOR}.union(*self._enabled.values())
        self._used = used_strategies(checks.load.document, registry, enabled, section.plugin_config)
        self._built = enabled.union(self._used.values())
        self._configured = {config.name for config in section.plugin_config}

    def read(self) -> Profile:
        """The profile, as far as it can be read."""
        configs = self._read_configs()
        self._warn_about_sets()
        for key in POINTS:
            self._check_set(key)
        self._check_used()
        return Profile(
            name=self._section.name,
            plugin_configs=self._with_evictor(configs),
            deschedule=self._enabled["deschedule"],
            balance=self._enabled["balance"],
            filter=_with_evictor_first(self._enabled["filter"]),
            pre_eviction_filter=_with_evictor_first(
                (*self._enabled["preevictionfilter"], *self._enabled[_DOCUMENTED]),
            ),
            used=tuple(dict.fromkeys(self._used.values())),
        )

    def _read_sets(self, *, reads_documented: bool) -> dict[str, PluginSetSection]:
        """Every plugin set of the profile by its key."""
        plugins = self._section.plugins
        names = [name for name in PluginsSection.__struct_fields__ if name != "pre_eviction_filter"]
        sets: dict[str, PluginSetSection] = {name: getattr(plugins, name) for name in names}
        documented, path = plugins.pre_eviction_filter, (*self._path, "plugins", _DOCUMENTED)
        if isinstance(documented, TreeNode):
            if reads_documented:
                sets[_DOCUMENTED] = self._checks.load.partial(documented, PluginSetSection, path, _LENIENT)
            else:
                way_out = "write preevictionfilter, or set 'compatibility: fixed'"
                self._checks.warn(path, f"is not read, as in kubernetes-sigs/descheduler; {way_out}")
        return sets

    def _read_configs(self) -> list[PluginConfig]:
        configs: list[PluginConfig] = []
        seen = set[str]()
        for index, section in enumerate(self._section.plugin_config):
            path = (*self._path, "pluginConfig", index)
            if section.name not in self._registry:
                self._checks.fail_load((*path, "name"), unknown_plugin(section.name, self._registry))
                continue
            config = self._read_config(section, path, is_in_use=section.name not in seen)
            if section.name in seen:
                self._checks.warn(path, f"{section.name} is configured twice; the first entry counts")
            elif section.name not in self._built:
                self._checks.warn(path, f"{section.name} is configured but not enabled in this profile")
            seen.add(section.name)
            if config is not None:
                configs.append(config)
        return configs

    def _read_config(self, section: PluginConfigSection, path: Path, *, is_in_use: bool) -> PluginConfig | None:
        spec, args_path = self._registry[section.name], (*path, "args")
        node = self._checks.args_node(section.args, path)
        form = self._checks.load.document.form
        reader = ArgsReader(self._checks.load, "error" if form == "json" else "warning")
        args = reader.read(spec, node, args_path)
        if args is None:
            return None
        if is_in_use and section.name in self._built:
            reader = ArgsReader(self._checks.build, "warning")
            reader.record_construction(spec, args, node, args_path, self._checks.read_scheduler_file)
        value = _threshold_value(args) if is_in_use and section.name == _EVICTOR else None
        if value is not None and (message := too_high(value)):
            self._checks.fail_load((*args_path, "priorityThreshold", "value"), message)
        mark = self._checks.node((*args_path, "priorityThreshold", "name")).mark
        return PluginConfig(
            section.name,
            args,
            args_path,
            (mark.line, mark.column) if mark else None,
            api_version=member_text(node, "apiVersion"),
            kind=member_text(node, "kind"),
        )

    def _with_evictor(self, configs: Sequence[PluginConfig]) -> tuple[PluginConfig, ...]:
        """`configs` with an entry for the evictor, whose threshold is set unless a class is to be looked up."""
        first = next((config for config in configs if config.name == _EVICTOR), None)
        if first is None:
            if _EVICTOR not in self._registry:
                return tuple(configs)
            args = with_threshold_value(self._registry[_EVICTOR].args_type())
            return (PluginConfig(_EVICTOR, args), *configs)
        if threshold_of(first.args) is not None:
            return tuple(configs)
        completed = replace(first, args=with_threshold_value(first.args))
        return tuple(completed if config is first else config for config in configs)

    def _warn_about_sets(self) -> None:
        for key, plugin_set in self._sets.items():
            without_effect = {"disabled": plugin_set.disabled, "enabled": () if key in POINTS else plugin_set.enabled}
            for field, names in without_effect.items():
                if names:
                    path = (*self._path, "plugins", key, field)
                    self._checks.warn(path, "has no effect in a DeschedulerPolicy, ignored")

    def _check_set(self, key: str) -> None:
        seen = set[str]()
        for index, name in enumerate(self._enabled[key]):
            path = (*self._path, "plugins", key, "enabled", index)
            if message := self._set_problem(name, key):
                self._checks.fail_build(path, message)
            elif name in seen:
                self._checks.warn(path, f"{name} is enabled twice in this set and runs twice; remove one of them")
            seen.add(name)

    def _set_problem(self, name: str, key: str) -> str | None:
        spec = self._registry.get(name)
        if spec is None:
            return unknown_plugin(name, self._registry)
        if POINTS[key] not in spec.extension_points:
            return wrong_extension_point(spec, key, POINTS.values())
        return None if name == _EVICTOR else self._missing_config(name)

    def _check_used(self) -> None:
        for path, name in self._used.items():
            if message := used_strategy_problem(name, self._registry) or self._missing_config(name):
                self._checks.fail_build((*self._path, "pluginConfig", *path), message)

    def _missing_config(self, name: str) -> str | None:
        if name in self._configured:
            return None
        return f"plugin {name} has no pluginConfig entry; add '- name: {name}' to the profile's pluginConfig"


def _threshold_value(args: msgspec.Struct) -> int | None:
    threshold = threshold_of(args)
    return threshold.value if threshold else None


def _with_evictor_first(names: tuple[str, ...]) -> tuple[str, ...]:
    return names if _EVICTOR in names else (_EVICTOR, *names)
