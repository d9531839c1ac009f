"""The `metricsProviders` and `metricsCollector` sections of a DeschedulerPolicy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv6Address
from typing import Annotated

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.text.urls import shown_url
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, one_of
from descheduler.policy.types import MetricsProvider, SecretReference

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_BAD_HOST_ESCAPE = re.compile(r"%(?!25)[0-7]")
_BAD_HOST_CHARACTER = re.compile(r"[ %\\^`{|}]")
_PORT = re.compile(r"(:[0-9]*)?\Z")
_USERINFO = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*\Z")


def url_problem(url: str) -> str | None:
    """Why `url` does not parse, or None. Mirrors Go 1.26 `net/url`, `parse` and `parseHost`.

    Parts are quoted only of a URL without '@': they may belong to a password that was not escaped.
    """
    body, _, fragment = url.partition("#")
    if any(character < " " or character == "\x7f" for character in body):
        return "holds a control character"
    if url.startswith(":"):
        return "has no scheme before the colon"
    scheme = _SCHEME.match(body)
    rest = (body[scheme.end() :] if scheme else body).partition("?")[0]
    if scheme and not rest.startswith("/"):
        return None
    if not rest.startswith("/") and ":" in rest.partition("/")[0]:
        return "has no scheme such as http://, and a colon in its first part"
    path = rest
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
        if problem := _authority_problem(authority, scheme[1].lower() if scheme else "", is_quotable="@" not in url):
            return problem
    return (
        "holds a '%' that does not begin an escape"
        if _BAD_ESCAPE.search(path) or _BAD_ESCAPE.search(fragment)
        else None
    )


def _authority_problem(authority: str, scheme: str, *, is_quotable: bool) -> str | None:
    userinfo, _, host = authority.rpartition("@")
    if not _USERINFO.match(userinfo) or _BAD_ESCAPE.search(userinfo):
        return "has an invalid user part before the '@'"
    if "[" in host[1:]:
        return "has a '[' within its host name"
    is_bracketed = host.startswith("[")
    if is_bracketed:
        host, bracket, port = host[1:].rpartition("]")
        if not bracket:
            return "has a host without its closing ']'"
    else:
        # Database URLs may list hosts with ports; those of the web have one colon.
        at = host.find(":") if scheme in ("http", "https") else host.rfind(":")
        host, port = (host, "") if at < 0 else (host[:at], host[at:])
    if not _PORT.match(port):
        return f"has an invalid port {port!r} after the host" if is_quotable else "has an invalid port after the host"
    name = host.partition("%25")[0] if is_bracketed else host
    if _BAD_ESCAPE.search(host) or _BAD_HOST_ESCAPE.search(name) or _BAD_HOST_CHARACTER.search(_unescaped(host)):
        return "has an invalid character in its host name"
    if not is_bracketed or _is_ipv6(host):
        return None
    return (
        f"has {host!r} in brackets, which is not an IPv6 address" if is_quotable else "has no IPv6 address in brackets"
    )


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host.replace("%25", "%", 1))
    except ValueError:
        return False
    return True


def _unescaped(host: str) -> str:
    return re.sub(r"%[0-9a-fA-F]{2}", "", host)


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
