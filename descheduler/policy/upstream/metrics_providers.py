"""The `metricsProviders` and `metricsCollector` sections of a DeschedulerPolicy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.text.urls import shown_url
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, one_of
from descheduler.policy.types import MetricsProvider, SecretReference
from descheduler.policy.upstream.urls import url_problem

__all__ = ["MetricsCollectorSection", "MetricsProviderSection", "read_providers"]

_KUBERNETES, _PROMETHEUS = "KubernetesMetrics", "Prometheus"


class SecretReferenceSection(Args, frozen=True):
    """Names a Secret."""

    namespace: str = ""
    """Its namespace; required."""
    name: str = ""
    """Its name; required."""


class AuthTokenSection(Args, frozen=True):
    """Where Prometheus' bearer token comes from."""

    secret_reference: SecretReferenceSection | None = None
    """The Secret that holds the token, under the key `prometheusAuthToken`; required."""


class PrometheusSection(Args, frozen=True):
    """How Prometheus is reached."""

    url: str = ""
    """Such as `http://prometheus.monitoring:9090`; required."""
    auth_token: AuthTokenSection | None = None
    """Where the token comes from; none is sent when unset."""


class MetricsProviderSection(Args, frozen=True):
    """One entry of `metricsProviders`."""

    source: Annotated[str, one_of((_KUBERNETES, _PROMETHEUS))] = ""
    """`KubernetesMetrics` (the metrics server) or `Prometheus`."""
    prometheus: PrometheusSection | None = None
    """For source `Prometheus`, which requires it."""


class MetricsCollectorSection(Args, frozen=True):
    """The deprecated way to ask for the metrics server."""

    enabled: bool = False
    """Whether the metrics server is asked."""


def read_providers(
    checks: Checks, sections: Sequence[MetricsProviderSection], collector: MetricsCollectorSection
) -> tuple[MetricsProvider, ...]:
    """The providers in `sections`, with what is wrong with them recorded; unknown sources load and get a warning.

    Mirrors kubernetes-sigs/descheduler 0.36 `pkg/descheduler/policyconfig.go`, `validateDeschedulerConfiguration`.
    """
    seen = set[str]()
    for index, section in enumerate(sections):
        path: Path = ("metricsProviders", index)
        if section.source in seen:
            checks.fail_load((*path, "source"), f"{shown(section.source)} is configured twice; keep one of them")
        seen.add(section.source)
        if section.source == _KUBERNETES and collector.enabled:
            checks.fail_load(path, "cannot be used with metricsCollector.enabled; remove the latter")
        elif section.source == _PROMETHEUS:
            _check_prometheus(checks, section.prometheus, (*path, "prometheus"))
        elif section.source != _KUBERNETES:
            hint = did_you_mean(section.source, (_KUBERNETES, _PROMETHEUS))
            checks.warn((*path, "source"), f"unknown source {shown(section.source)}, ignored{hint}")
    return tuple(_provider(section) for section in sections)


def _check_prometheus(checks: Checks, section: PrometheusSection | None, path: Path) -> None:
    if section is None:
        checks.fail_load(path, "is missing, but source Prometheus needs it; give it a url")
        return
    if not section.url:
        checks.fail_load((*path, "url"), "is empty, but source Prometheus needs it")
    elif problem := url_problem(section.url):
        checks.fail_load((*path, "url"), f"{shown(shown_url(section.url))} {problem}")
    if section.auth_token is None:
        return
    reference, place = section.auth_token.secret_reference, (*path, "authToken", "secretReference")
    if reference is None:
        checks.fail_load(place, "is missing; name the Secret that holds the token")
    elif not (reference.name and reference.namespace):
        checks.fail_load(place, "needs both a name and a namespace")


def _provider(section: MetricsProviderSection) -> MetricsProvider:
    prometheus = section.prometheus or PrometheusSection()
    reference = prometheus.auth_token and prometheus.auth_token.secret_reference
    token = SecretReference(reference.namespace, reference.name) if reference else None
    return MetricsProvider(section.source, prometheus.url, token)
