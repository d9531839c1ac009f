"""What the API server offers: its version, its groups, and whether pods can be evicted at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient


class ServerFacts(msgspec.Struct, frozen=True):
    """Facts of one server. `groups` maps each API group to its preferred version, such as `policy` to `policy/v1`."""

    git_version: str
    major: str
    minor: str
    groups: Mapping[str, str]

    @property
    def policy_version(self) -> str:
        """The preferred version of group `policy`, the `apiVersion` of an eviction."""
        return self.groups["policy"]


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""


_decode_version = msgspec.json.Decoder(_Version).decode


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _Group(msgspec.Struct, rename="camel"):
    name: str
    preferred_version: _GroupVersion = msgspec.field(default_factory=_GroupVersion)


class _GroupList(msgspec.Struct):
    groups: list[_Group]


_decode_groups = msgspec.json.Decoder(_GroupList).decode


class _Resource(msgspec.Struct):
    name: str
    kind: str = ""


class _ResourceList(msgspec.Struct):
    resources: list[_Resource]


decode_resources = msgspec.json.Decoder(_ResourceList).decode
"""What a group has in one version."""


def discover(client: KubeClient) -> ServerFacts:
    """The facts of the server behind `client`; a version that it keeps to itself is "".

    Raises ExchangeError when it offers no eviction (neither group `policy` nor `pods/eviction` may be missing): a
    descheduler that reports success there would hide that it can never do anything.
    """
    version = _version(client)
    groups = client.fetch("/apis", _decode_groups).groups
    core = client.fetch("/api/v1", decode_resources).resources
    preferred = {group.name: group.preferred_version.group_version for group in groups}
    if "policy" not in preferred:
        raise ExchangeError(f"{client.host} does not serve the API group policy, so pods cannot be evicted")
    if not any(resource.name == "pods/eviction" and resource.kind == "Eviction" for resource in core):
        raise ExchangeError(f"{client.host} does not serve pods/eviction, so pods cannot be evicted")
    return ServerFacts(version.git_version, version.major, version.minor, preferred)


def discover_version(client: KubeClient) -> str:
    """The `gitVersion` of the server behind `client`, "" when it keeps that to itself. Raises ExchangeError."""
    return _version(client).git_version


def _version(client: KubeClient) -> _Version:
    try:
        return client.fetch("/version", _decode_version)
    except ApiError:  # hardened clusters hide it, and no decision depends on it
        return _Version()
