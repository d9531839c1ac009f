"""What stands in a DeschedulerPolicy alone, back to a document."""

from __future__ import annotations

from descheduler.policy.types import MetricsProvider, Policy, Profile

__all__ = ["plugins_to_document", "settings_to_document"]


def settings_to_document(policy: Policy) -> dict[str, object]:
    """The settings outside of profiles; None for what is not set."""
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


def plugins_to_document(profile: Profile) -> dict[str, object]:
    """The `plugins` of a profile."""
    sets = {
        "deschedule": profile.deschedule,
        "balance": profile.balance,
        "filter": profile.filter,
        "preevictionfilter": profile.pre_eviction_filter,
    }
    return {key: {"enabled": list(names)} for key, names in sets.items() if names}
