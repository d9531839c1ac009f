"""What stands in a DeschedulerConfiguration alone, back to a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.model.text.duration import format_duration
from descheduler.policy.koordinator.plugin_sets import DEFAULT_PLUGINS, OWN_DEFAULTS
from descheduler.policy.plain_values import plain_value
from descheduler.policy.types import LeaderElection, Policy, Profile

__all__ = ["plugins_to_document", "settings_to_document"]


def settings_to_document(policy: Policy) -> dict[str, object]:
    """The settings outside of profiles; None for what is not set."""
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


def plugins_to_document(profile: Profile) -> dict[str, object]:
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
