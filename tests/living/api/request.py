"""A request as it came, and the object or list that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.living.api.refusal import Refused
from tests.living.resources import RESOURCES, Resource
from tests.living.store import Key, Object


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `agent` is who sends it: "us" is the program under test."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    accept: str = "application/json"
    content_type: str = "application/json"
    agent: str = "us"

    @property
    def is_watch(self) -> bool:
        """Whether a stream of changes is asked for."""
        return self.method == "GET" and self.query.get("watch") in ("1", "true")

    def document(self) -> Object:
        """The body. Raises Refused when it is no JSON object."""
        try:
            value: Any = msgspec.json.decode(self.body or b"")
        except msgspec.DecodeError as error:
            raise Refused(400, "BadRequest", f"the body is not valid: {error}") from error
        if not isinstance(value, dict):
            raise Refused(400, "BadRequest", "the body is not an object")
        return value


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a list (of a namespace, or of all), an object, or a subresource of an object."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> Key:
        """Namespace and name in the store."""
        return self.namespace, self.name


def target_of(path: str, absent: frozenset[str]) -> Target:
    """What `path` names. Raises Refused for what nobody serves, the groups `absent` among it."""
    parts = path.strip("/").split("/")
    root = 2 if parts[0] == "api" else 3
    prefix, rest = "/".join(["", *parts[:root]]), parts[root:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and f"{prefix}/{rest[2]}" in RESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource = RESOURCES.get(f"{prefix}/{rest[0]}") if rest else None
    is_served = resource is not None and resource.group not in absent and len(rest) <= 3
    if resource is None or not is_served or (bool(namespace) and not resource.is_namespaced):
        raise Refused(404, "NotFound", "the server could not find the requested resource")
    if len(rest) > 1 and resource.is_namespaced and not namespace:
        raise Refused(404, "NotFound", "the server could not find the requested resource")
    return Target(resource, namespace, *rest[1:])
