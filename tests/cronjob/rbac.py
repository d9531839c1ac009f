"""Rights as single grants: what roles allow, what the program is known to do, and what a request asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from descheduler.cluster.kinds import KINDS
from descheduler.policy.types import Policy
from tests.cronjob.manifests import Manifest, named
from tests.integration.fake_api import Request


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One verb on one resource; `name` is that of the only object it holds for, "" for every one."""

    verb: str
    group: str
    resource: str
    name: str = ""


def list_grants(kinds: Iterable[str]) -> set[Grant]:
    """What listing these kinds, keys of `KINDS`, takes."""
    return {Grant("list", KINDS[key].group, KINDS[key].plural) for key in kinds}


LIST_ALL = list_grants(KINDS)
"""What reading for any policy takes."""

EVICT = {
    Grant("create", "", "pods/eviction"),
    Grant("get", "", "pods"),
    Grant("create", "events.k8s.io", "events"),
}
"""What carrying evictions out takes."""

_KOORDINATOR = "scheduling.koordinator.sh"
PLACEHOLDER_CLASS = "descheduler-placeholder"

JOBS = {
    *(Grant(verb, _KOORDINATOR, "podmigrationjobs") for verb in ("get", "create", "patch", "delete")),
    Grant("patch", _KOORDINATOR, "podmigrationjobs/status"),
    *(Grant(verb, _KOORDINATOR, "reservations") for verb in ("get", "create", "delete")),
    Grant("get", "coordination.k8s.io", "leases", "koord-descheduler"),
}
"""What moving pods by jobs takes besides."""

PLACEHOLDERS = {
    Grant("create", "", "pods"),
    Grant("delete", "", "pods"),
    Grant("get", "scheduling.k8s.io", "priorityclasses", PLACEHOLDER_CLASS),
}
"""What holding room by placeholder pods takes besides."""

SURGES = {
    *(Grant("get", "apps", kind) for kind in ("deployments", "replicasets")),
    *(Grant("patch", "apps", f"{kind}/scale") for kind in ("deployments", "replicasets")),
    Grant("list", "autoscaling", "horizontalpodautoscalers"),
    Grant("patch", "", "pods"),
}
"""What surging workloads with one replica takes besides."""

CORDONS = {Grant("get", "", "nodes"), Grant("patch", "", "nodes")}
"""What cordoning nodes that are to be drained takes besides."""


def lease_grants(name: str) -> set[Grant]:
    """What holding the Lease of this name takes, and writing the memory and the status beside it."""
    return {
        *holding_grants(name),
        Grant("create", "", "configmaps"),
        Grant("update", "", "configmaps", f"{name}-memory"),
        *status_grants(name),
    }


def holding_grants(name: str) -> set[Grant]:
    """What holding the Lease of this name takes."""
    return {
        Grant("create", "coordination.k8s.io", "leases"),
        *(Grant(verb, "coordination.k8s.io", "leases", name) for verb in ("get", "update")),
    }


def status_grants(name: str) -> set[Grant]:
    """What writing the status of the last runs beside the Lease of this name takes."""
    return {Grant(verb, "", "configmaps", f"{name}-status") for verb in ("get", "update")}


def memory_grants(name: str) -> set[Grant]:
    """What reading the memory beside the Lease of this name takes."""
    return {Grant("get", "", "configmaps", f"{name}-memory")}


def job_map_grants() -> set[Grant]:
    """What keeping jobs in ConfigMaps takes, whose names nobody knows beforehand."""
    return {Grant(verb, "", "configmaps") for verb in ("list", "get", "create", "patch", "delete")}


def token_grants(policy: Policy) -> set[Grant]:
    """What reading the tokens for Prometheus that the policy names takes."""
    secrets = [provider.auth_token for provider in policy.metrics_providers if provider.auth_token is not None]
    return {Grant("get", "", "secrets", secret.name) for secret in secrets}


def grants_of(roles: Iterable[Manifest]) -> set[Grant]:
    """What these roles allow together, with wildcards as they stand."""
    found: set[Grant] = set()
    for rule in (rule for role in roles for rule in role["rules"]):
        names = rule.get("resourceNames") or [""]
        found |= {Grant(*parts) for parts in product(rule["verbs"], rule["apiGroups"], rule["resources"], names)}
    return found


def granted(manifests: Iterable[Manifest], kind: str) -> set[Grant]:
    """What the roles of a kind allow together."""
    return grants_of(named(manifests, kind).values())


def requested(request: Request) -> Grant | None:
    """The grant that a request takes; None for discovery, which every account may do, and for other servers."""
    match request.path.strip("/").split("/"):
        case ["version"] | ["api" | "apis"] | ["api", "v1"] | ["apis", _, _] | ["api", "v1", "query"]:
            return None
        case ["api", _, *rest]:
            return _on_resource(request.method, "", rest)
        case ["apis", group, _, *rest]:
            return _on_resource(request.method, group, rest)
    raise AssertionError(f"a path of no API: {request.path}")


_NAMED = frozenset({"secrets", "leases", "configmaps", "priorityclasses"})


def _on_resource(method: str, group: str, rest: list[str]) -> Grant:
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    writes = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    verb = writes.get(method) or ("get" if name else "list")
    # A right to read one Secret is bound to its name; pods have names that nobody knows beforehand, and so have jobs.
    is_named = resource in _NAMED and verb != "create" and not name.startswith("descheduler-job-")
    bound_name = name if is_named else ""
    return Grant(verb, group, f"{resource}/{subresource}" if subresource else resource, bound_name)
