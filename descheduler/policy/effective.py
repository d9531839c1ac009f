"""A policy back to a document: what really runs, with everything filled in. Loading it again gives the same policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

import msgspec

from descheduler.model.text.duration import format_duration
from descheduler.policy.koordinator.profile import DEFAULT_PLUGINS, OWN_DEFAULTS
from descheduler.policy.types import LeaderElection, MetricsProvider, PluginConfig, Policy, Profile


def args_to_document(args: msgspec.Struct) -> dict[str, object]:
    """`args` in YAML spelling, fields at their zero value left out."""
    plain = {}
    for field in msgspec.structs.fields(args):
        value = getattr(args, field.name)
        default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        if value != default:
            plain[field.encode_name] = plain_value(value)
    return plain


def plain_value(value: object) -> object:
    """`value` as YAML or JSON has it."""
    match value:
        case msgspec.Struct():
            return args_to_document(value)
        case timedelta():
            return format_duration(value)
        case tuple():
            return [plain_value(item) for item in value]
        case Mapping():
            return {key: plain_value(item) for key, item in value.items()}
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


_API_VERSION = "descheduler/v1alpha2"


def policy_to_document(policy: Policy) -> dict[str, object]:
    """`policy` in the versioned form of its kind, ready for JSON or YAML. What is not set is left out."""
    is_upstream = policy.kind == "DeschedulerPolicy"
    settings = _upstream_settings if is_upstream else _koordinator_settings
    plugins_of = _upstream_plugins if is_upstream else _koordinator_plugins
    is_usual = policy.compatibility == ("upstream" if is_upstream else "fixed")
    document = {
        "apiVersion": _API_VERSION,
        "kind": policy.kind,
        "compatibility": None if is_usual else policy.compatibility,
        "nodeSelector": plain_value(policy.node_selector_spec),
        "maxNoOfPodsToEvictPerNode": policy.max_evictions_per_node,
        "maxNoOfPodsToEvictPerNamespace": policy.max_evictions_per_namespace,
        "maxNoOfPodsToEvictTotal": policy.max_evictions_total,
        **settings(policy),
        "profiles": [_profile(profile, plugins_of) for profile in policy.profiles],
    }
    return {key: value for key, value in document.items() if value is not None}


def _profile(profile: Profile, plugins_of: Callable[[Profile], dict[str, object]]) -> dict[str, object]:
    document: dict[str, object] = {"name": profile.name}
    if profile.node_selector_spec is not None:
        document["nodeSelector"] = plain_value(profile.node_selector_spec)
    document["pluginConfig"] = [_plugin_config(config) for config in profile.plugin_configs]
    document["plugins"] = plugins_of(profile)
    return document


def _plugin_config(config: PluginConfig) -> dict[str, object]:
    type_meta = {"apiVersion": config.api_version, "kind": config.kind}
    said = {key: text for key, text in type_meta.items() if text}
    return {"name": config.name, "args": said | args_to_document(config.args)}


def _upstream_settings(policy: Policy) -> dict[str, object]:
    """The settings of a DeschedulerPolicy outside of profiles; None for what is not set."""
    return {
        "evictionFailureEventNotification": policy.eviction_failure_event_notification or None,
        "gracePeriodSeconds": policy.grace_period_seconds,
        "metricsCollector": {"enabled": True} if policy.metrics_collector_enabled else None,
        "metricsProviders": [_provider(provider) for provider in policy.metrics_providers] or None,
    }


def _provider(provider: MetricsProvider) -> dict[str, object]:
    prometheus: dict[str, object] = {"url": provider.prometheus_url} if provider.prometheus_url else {}
    if provider.auth_token:
        reference = {"namespace": provider.auth_token.namespace, "name": provider.auth_token.name}
        prometheus["authToken"] = {"secretReference": reference}
    return {"source": provider.source, **({"prometheus": prometheus} if prometheus else {})}


def _upstream_plugins(profile: Profile) -> dict[str, object]:
    sets = {
        "deschedule": profile.deschedule,
        "balance": profile.balance,
        "filter": profile.filter,
        "preevictionfilter": profile.pre_eviction_filter,
    }
    return {key: {"enabled": list(names)} for key, names in sets.items() if names}


def _koordinator_settings(policy: Policy) -> dict[str, object]:
    """The settings of a DeschedulerConfiguration outside of profiles; None for what is not set."""
    return {
        "dryRun": policy.dry_run or None,
        "deschedulingInterval": format_duration(policy.descheduling_interval),
        "clientConnection": {
            "kubeconfig": policy.kubeconfig,
            "qps": plain_value(policy.client_qps),
            "burst": policy.client_burst,
        },
        "leaderElection": _leader_election(policy.leader_election) if policy.leader_election else None,
        "healthzBindAddress": policy.healthz_bind_address,
        "metricsBindAddress": policy.metrics_bind_address,
        "enableProfiling": policy.enable_profiling,
        "enableContentionProfiling": policy.enable_contention_profiling,
    }


def _leader_election(settings: LeaderElection) -> dict[str, object]:
    return {
        "leaderElect": settings.leader_elect,
        "leaseDuration": format_duration(settings.lease_duration),
        "renewDeadline": format_duration(settings.renew_deadline),
        "retryPeriod": format_duration(settings.retry_period),
        "resourceLock": settings.resource_lock,
        "resourceName": settings.resource_name,
        "resourceNamespace": settings.resource_namespace,
    }


def _one_set(filters: Sequence[str], pre_eviction_filters: Sequence[str]) -> tuple[str, ...]:
    """The set that both lists were made from; what they share stands in one order in both."""
    ahead, together = list(filters), list[str]()
    for name in pre_eviction_filters:
        if name in ahead:
            at = ahead.index(name)
            together += ahead[:at]
            del ahead[: at + 1]
        together.append(name)
    return (*together, *ahead)


def _koordinator_plugins(profile: Profile) -> dict[str, object]:
    """The `plugins` of a profile, whose sets disable all defaults: what runs is enabled."""
    sets = {
        "deschedule": profile.deschedule,
        "balance": profile.balance,
        "evict": profile.evict,
        "filter": _one_set(profile.filter, profile.pre_eviction_filter),
    }
    return {key: {"enabled": _references(names), "disabled": _disabled(key, names)} for key, names in sets.items()}


def _disabled(key: str, names: Sequence[str]) -> list[dict[str, str]]:
    """What keeps the defaults from being merged in again: the star, and the names that it does not stand for."""
    own = [name for name in DEFAULT_PLUGINS[key] if name in OWN_DEFAULTS and name not in names]
    return _references(("*", *own))


def _references(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"name": name} for name in names]
