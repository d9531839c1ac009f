"""The proxy on the way to a server: its address for the connection pool, its password for the proxy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies

from descheduler.model.text.urls import is_web_url, split_userinfo
from descheduler.transport.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Proxy:
    """A URL without user part, and the header fields that the proxy asks for."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


def named_proxy(url: str, origin: str) -> Proxy:
    """The proxy at `url`, which `origin` names in messages. Raises SettingsError, which never holds the URL."""
    if not is_web_url(url):
        raise SettingsError(
            f"{origin} cannot be used: it must be an http or https URL such as http://host:3128; "
            "proxies of other kinds are not supported"
        )
    split = split_userinfo(url)
    return Proxy(split.url, {"proxy-authorization": split.authorization} if split.authorization else {})


def proxy_for(server: str) -> Proxy | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names for the URL `server`, unless NO_PROXY does too.

    As for Go's programs it is http when it has no scheme. Raises SettingsError.
    """
    named = getproxies()
    url = named.get(urlsplit(server).scheme) or named.get("all")
    if not url or _is_direct(server, named.get("no") or ""):
        return None
    return named_proxy(url if "://" in url else f"http://{url}", "the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY")


def _is_direct(server: str, no_proxy: str) -> bool:
    """Whether NO_PROXY names `server`: by host or domain, with or without a port, by address or network, or by `*`."""
    split = urlsplit(server)
    names = (split.hostname or "", split.netloc.lower())
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    return any(
        entry == "*" or _is_in_network(names[0], entry) or _is_in_domain(names, entry.lstrip("."))
        for entry in entries
        if entry
    )


def _is_in_domain(names: tuple[str, ...], domain: str) -> bool:
    return any(name == domain or name.endswith(f".{domain}") for name in names)


def _is_in_network(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
