"""The proxy on the way to the API server: its address for the connection pool, its password for the proxy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from descheduler.kube.errors import KubeConfigError
from descheduler.model.urls import is_web_url, split_userinfo

__all__ = ["Proxy", "environment_proxy", "named_proxy"]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A URL without user part, and the header fields that the proxy asks for."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


def named_proxy(url: str, origin: str) -> Proxy:
    """The proxy that `proxy-url` of a kubeconfig names. Raises KubeConfigError, which never holds the URL."""
    if not is_web_url(url):
        raise KubeConfigError(
            f"{origin} cannot be used: it must be an http or https URL such as http://host:3128; "
            "proxies of other kinds are not supported"
        )
    split = split_userinfo(url)
    return Proxy(split.url, {"proxy-authorization": split.authorization} if split.authorization else {})


def environment_proxy(url: str) -> Proxy:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names; as for Go's programs, http when it has no scheme."""
    return named_proxy(url if "://" in url else f"http://{url}", "the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY")
