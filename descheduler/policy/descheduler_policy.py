"""Documents of kind DeschedulerPolicy (`descheduler/v1alpha2`), as kubernetes-sigs/descheduler 0.36 reads them.

The outer document is lenient: unknown fields are ignored there, and become warnings here. Arguments are strict.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from descheduler.model.labels import LabelError, LabelSelector, parse_selector
from descheduler.policy.decode import Decoder, Path, Strictness
from descheduler.policy.document import Node, find
from descheduler.policy.metrics_providers import MetricsCollectorSection, MetricsProviderSection, read_providers
from descheduler.policy.places import Checks, compatibility_of, threshold_places
from descheduler.policy.plugin import ExtensionPoint, Registry
from descheduler.policy.plugin_args import (
    ArgsReader,
    threshold_of,
    too_high,
    unknown_plugin,
    with_threshold_value,
    wrong_extension_point,
)
from descheduler.policy.problems import did_you_mean
from descheduler.policy.shared_args import Args, Int64, UInt
from descheduler.policy.source import digest_of
from descheduler.policy.types import PluginConfig, Policy, Profile

__all__ = ["read_descheduler_policy"]

_LENIENT = Strictness("warning", "warning")
_EVICTOR = "DefaultEvictor"
_POINTS: tuple[tuple[str, ExtensionPoint], ...] = (
    ("deschedule", "deschedule"),
    ("balance", "balance"),
    ("filter", "filter"),
    ("preevictionfilter", "preEvictionFilter"),
)
"""YAML key and extension point of the plugin sets that have an effect."""


class _PluginSet(Args, frozen=True):
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


class _Plugins(Args, frozen=True):
    presort: _PluginSet = _PluginSet()
    sort: _PluginSet = _PluginSet()
    deschedule: _PluginSet = _PluginSet()
    balance: _PluginSet = _PluginSet()
    filter: _PluginSet = _PluginSet()
    preevictionfilter: _PluginSet = _PluginSet()


class _PluginConfig(Args, frozen=True):
    name: str = ""
    args: object = None


class _Profile(Args, frozen=True):
    name: str = ""
    plugin_config: tuple[_PluginConfig, ...] = ()
    plugins: _Plugins = _Plugins()


class _DeschedulerPolicy(Args, frozen=True):
    api_version: str = ""
    kind: str = ""
    profiles: tuple[_Profile, ...] = ()
    node_selector: str = ""
    max_no_of_pods_to_evict_per_node: UInt | None = None
    max_no_of_pods_to_evict_per_namespace: UInt | None = None
    max_no_of_pods_to_evict_total: UInt | None = None
    eviction_failure_event_notification: bool = False
    grace_period_seconds: Int64 | None = None
    metrics_collector: MetricsCollectorSection = MetricsCollectorSection()
    metrics_providers: tuple[MetricsProviderSection, ...] = ()
    compatibility: str = ""


def read_descheduler_policy(checks: Checks, registry: Registry) -> Policy:
    """The policy in the document of `checks`, which receives what is wrong with it."""
    decoder = checks.load
    root = decoder.document.root
    section = decoder.partial(root, _DeschedulerPolicy, (), _LENIENT)
    known = {name: spec for name, spec in registry.items() if not spec.native}
    profiles = tuple(
        _ProfileReader(checks, known, index).read(profile) for index, profile in enumerate(section.profiles)
    )
    providers = read_providers(decoder, section.metrics_providers, section.metrics_collector)
    return Policy(
        kind="DeschedulerPolicy",
        path=decoder.document.path,
        profiles=profiles,
        node_selector=_compile_node_selector(checks.build, section.node_selector),
        node_selector_spec=section.node_selector or None,
        max_evictions_per_node=section.max_no_of_pods_to_evict_per_node,
        max_evictions_per_namespace=section.max_no_of_pods_to_evict_per_namespace,
        max_evictions_total=section.max_no_of_pods_to_evict_total,
        eviction_failure_event_notification=section.eviction_failure_event_notification,
        grace_period_seconds=section.grace_period_seconds,
        metrics_collector_enabled=section.metrics_collector.enabled,
        metrics_providers=providers,
        compatibility=compatibility_of(decoder, section.compatibility, "upstream"),
        warnings=checks.warnings(),
        digest=digest_of(decoder.document),
        places=threshold_places(root, profiles),
    )


def _compile_node_selector(decoder: Decoder, text: str) -> LabelSelector | None:
    if not text:
        return None
    try:
        return parse_selector(text)
    except LabelError as error:
        decoder.problem(("nodeSelector",), find(decoder.document.root, ("nodeSelector",)).mark, str(error))
        return None


class _ProfileReader:
    """Reads one profile: arguments, plugin lists, and whether the two go together."""

    def __init__(self, checks: Checks, registry: Registry, index: int) -> None:
        self._checks = checks
        self._registry = registry
        self._path: Path = ("profiles", index)

    def read(self, section: _Profile) -> Profile:
        configs = self._read_configs(section.plugin_config)
        self._warn_without_effect(section.plugins)
        enabled = {key: getattr(section.plugins, key).enabled for key, _point in _POINTS}
        self._check_sets(enabled, {config.name for config in section.plugin_config})
        self._check_construction(section, {name for names in enabled.values() for name in names})
        return Profile(
            name=section.name,
            plugin_configs=self._with_evictor(configs),
            deschedule=enabled["deschedule"],
            balance=enabled["balance"],
            filter=_prepended(enabled["filter"]),
            pre_eviction_filter=_prepended(enabled["preevictionfilter"]),
        )

    def _node(self, path: Path) -> Node:
        return find(self._checks.load.document.root, path)

    def _read_configs(self, sections: Sequence[_PluginConfig]) -> list[PluginConfig]:
        decoder = self._checks.load
        reader = ArgsReader(decoder, "error" if decoder.document.form == "json" else "warning")
        configs: list[PluginConfig] = []
        for index, section in enumerate(sections):
            path = (*self._path, "pluginConfig", index)
            spec = self._registry.get(section.name)
            if spec is None:
                name_path = (*path, "name")
                decoder.problem(name_path, self._node(name_path).mark, unknown_plugin(section.name, self._registry))
                continue
            if any(config.name == section.name for config in configs):
                decoder.warn(path, self._node(path).mark, f"{section.name} is configured twice; the first entry counts")
            node = section.args if isinstance(section.args, Node) else Node(None, self._node(path).mark)
            args = reader.read(spec, node, (*path, "args"))
            if args is not None:
                self._check_threshold(section.name, configs, args, (*path, "args"))
                configs.append(PluginConfig(section.name, args))
        return configs

    def _check_threshold(self, name: str, before: Sequence[PluginConfig], args: msgspec.Struct, path: Path) -> None:
        # Only the entry in use is resolved, as in the reference.
        threshold = threshold_of(args)
        if name != _EVICTOR or any(config.name == name for config in before) or threshold is None:
            return
        if threshold.value is not None and not threshold.name and (message := too_high(threshold.value)):
            field = (*path, "priorityThreshold", "value")
            self._checks.load.problem(field, self._node(field).mark, message)

    def _with_evictor(self, configs: Sequence[PluginConfig]) -> tuple[PluginConfig, ...]:
        first = next((config for config in configs if config.name == _EVICTOR), None)
        if first is not None:
            resolved = PluginConfig(_EVICTOR, with_threshold_value(first.args))
            return tuple(resolved if config is first else config for config in configs)
        if _EVICTOR not in self._registry:
            return tuple(configs)
        return (PluginConfig(_EVICTOR, with_threshold_value(self._registry[_EVICTOR].args_type())), *configs)

    def _warn_without_effect(self, plugins: _Plugins) -> None:
        path = (*self._path, "plugins")
        for key in plugins.__struct_encode_fields__:
            plugin_set: _PluginSet = getattr(plugins, key)
            lists = {"enabled": plugin_set.enabled if "sort" in key else (), "disabled": plugin_set.disabled}
            for name in (name for name, names in lists.items() if names):
                place = (*path, key, name)
                message = "has no effect in a DeschedulerPolicy, ignored"
                self._checks.load.warn(place, self._node(place).mark, message)

    def _check_sets(self, enabled: dict[str, tuple[str, ...]], configured: set[str]) -> None:
        for key, point in _POINTS:
            for index, name in enumerate(enabled[key]):
                if message := self._set_problem(name, key, point, configured):
                    path = (*self._path, "plugins", key, "enabled", index)
                    self._checks.build.problem(path, self._node(path).mark, message)

    def _set_problem(self, name: str, key: str, point: ExtensionPoint, configured: set[str]) -> str | None:
        spec = self._registry.get(name)
        if spec is None:
            return unknown_plugin(name, self._registry)
        if point not in spec.extension_points:
            return wrong_extension_point(spec, key, [offered for _key, offered in _POINTS])
        if name not in configured and name != _EVICTOR:
            return f"plugin {name} has no pluginConfig entry; add '- name: {name}' to pluginConfig of this profile"
        return None

    def _check_construction(self, section: _Profile, enabled: set[str]) -> None:
        """Checks of the plugins that get built: each enabled one, and always the evictor, from its first entry."""
        reader, seen = ArgsReader(self._checks.build, "warning"), set[str]()
        for index, config in enumerate(section.plugin_config):
            spec = self._registry.get(config.name)
            if spec is None or config.name in seen:
                continue
            seen.add(config.name)
            path = (*self._path, "pluginConfig", index, "args")
            if config.name not in enabled | {_EVICTOR}:
                if config.name not in did_you_mean("", ()):
                    self._warn_unused(config.name, path[:-1])
                continue
            node = self._node(path[:-1]) if not isinstance(config.args, Node) else config.args
            args = Decoder(self._checks.load.document).struct(node, spec.args_type, path, _LENIENT)
            if args is not None:
                reader.record(spec.construction_problems(args), node, path)
