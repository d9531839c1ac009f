"""A policy back to a document: what really runs, with everything filled in. Loading it again gives the same policy."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.policy.koordinator import as_document as koordinator
from descheduler.policy.plain_values import args_to_document, plain_value
from descheduler.policy.types import PluginConfig, Policy, Profile
from descheduler.policy.upstream import as_document as upstream

__all__ = ["policy_to_document"]

_API_VERSION = "descheduler/v1alpha2"


def policy_to_document(policy: Policy) -> dict[str, object]:
    """`policy` in the versioned form of its kind, ready for JSON or YAML. What is not set is left out."""
    is_upstream = policy.kind == "DeschedulerPolicy"
    form = upstream if is_upstream else koordinator
    is_usual = policy.compatibility == ("upstream" if is_upstream else "fixed")
    document = {
        "apiVersion": _API_VERSION,
        "kind": policy.kind,
        "compatibility": None if is_usual else policy.compatibility,
        "nodeSelector": plain_value(policy.node_selector_spec),
        "maxNoOfPodsToEvictPerNode": policy.max_evictions_per_node,
        "maxNoOfPodsToEvictPerNamespace": policy.max_evictions_per_namespace,
        "maxNoOfPodsToEvictTotal": policy.max_evictions_total,
        **form.settings_to_document(policy),
        "profiles": [_profile(profile, form.plugins_to_document) for profile in policy.profiles],
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
