"""Version, groups and resources that the server tells of itself."""

from __future__ import annotations

from tests.living.api.refusal import Refused
from tests.living.resources import RESOURCES
from tests.living.store import Object


def discovered(path: str, absent: frozenset[str]) -> Object | None:
    """The discovery document at `path`, None for any other path. Raises Refused (404) for groups `absent`."""
    match path.strip("/").split("/"):
        case ["version"]:
            return {"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups(absent)}
        case ["api", "v1"]:
            return _resources("v1")
        case ["apis", group, version]:
            if group in absent or f"{group}/{version}" not in _versions(absent):
                raise Refused(404, "NotFound", "the server could not find the requested resource")
            return _resources(f"{group}/{version}")
    return None


def _versions(absent: frozenset[str]) -> list[str]:
    found = {resource.api_version for resource in RESOURCES.values() if resource.group and resource.group not in absent}
    return sorted(found | {"authorization.k8s.io/v1"})


def _groups(absent: frozenset[str]) -> list[Object]:
    groups = []
    for version in _versions(absent):
        group, _, short = version.rpartition("/")
        told = {"groupVersion": version, "version": short}
        groups.append({"name": group, "versions": [told], "preferredVersion": told})
    return groups


def _resources(version: str) -> Object:
    served = []
    for resource in RESOURCES.values():
        if resource.api_version == version:
            head = {"name": resource.plural, "kind": resource.kind, "namespaced": resource.is_namespaced}
            served.append({**head, "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"]})
            if resource.has_status:
                status = {"name": f"{resource.plural}/status", "verbs": ["get", "patch", "update"]}
                served.append({**head, **status})
    if version == "v1":
        served.append({"name": "pods/eviction", "kind": "Eviction", "namespaced": True, "verbs": ["create"]})
        served.append({"name": "pods/binding", "kind": "Binding", "namespaced": True, "verbs": ["create"]})
    return {"kind": "APIResourceList", "groupVersion": version, "resources": served}
