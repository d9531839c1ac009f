"""Scheduler extenders: programs that kube-scheduler asks over HTTP, and whose answers no snapshot holds.

Rules are those of Kubernetes 1.36 (`pkg/scheduler/apis/config/validation/validation.go`, `pkg/scheduler/extender.go`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from descheduler.documents.decode import Path
from descheduler.documents.problems import shown
from descheduler.model.selection.labels import key_problem
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, Int64


class TlsSection(Args, frozen=True):
    """How an extender is reached over TLS; checked for its spelling only."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class ManagedResourceSection(Args, frozen=True):
    """An extended resource that an extender looks after."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderSection(Args, frozen=True):
    """One entry of `extenders`."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: TlsSection | None = None
    http_timeout: timedelta = msgspec.field(default=timedelta(0), name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResourceSection, ...] = ()
    ignorable: bool = False


class Extender(msgspec.Struct, frozen=True):
    """One extender, and the questions it is asked."""

    url_prefix: str
    filters: bool = False
    """Whether it may refuse nodes: what it would say of them is unknown."""
    prioritizes: bool = False
    """Whether it scores nodes: which of several is chosen is unknown."""
    weight: int = 1
    """By which its scores are multiplied."""
    binds: bool = False
    preempts: bool = False
    managed_resources: frozenset[str] = frozenset()
    """Extended resources; with none every pod is its concern."""
    ignored_resources: tuple[str, ...] = ()
    """The part of `managed_resources` that kube-scheduler does not check itself."""
    ignorable: bool = False
    """Whether pods are scheduled without it while it does not answer."""

    def is_interested(self, resource_names: Iterable[str]) -> bool:
        """Whether it is asked about a pod whose containers request, or limit, `resource_names`."""
        return not self.managed_resources or not self.managed_resources.isdisjoint(resource_names)


def read_extenders(checks: Checks, sections: tuple[ExtenderSection, ...]) -> tuple[Extender, ...]:
    """The extenders in the order in which they are asked, ignorable ones last; what is wrong is recorded."""
    seen = set[str]()
    for index, section in enumerate(sections):
        path: Path = ("extenders", index)
        if section.prioritize_verb and section.weight <= 0:
            checks.fail_load(
                (*path, "weight"), f"{section.weight} is not above 0, as a prioritizing extender's must be"
            )
        for number, resource in enumerate(section.managed_resources):
            _check_resource(checks, resource.name, seen, (*path, "managedResources", number, "name"))
        _warn(checks, section, path)
    if sum(bool(section.bind_verb) for section in sections) > 1:
        checks.fail_load(("extenders",), "several have a bindVerb; only one of them can bind")
    return tuple(sorted((_extender(section) for section in sections), key=lambda extender: extender.ignorable))


def _check_resource(checks: Checks, name: str, seen: set[str], path: Path) -> None:
    is_extended = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    if not is_extended or key_problem(name):
        checks.fail_load(path, f"{shown(name)} is not an extended resource, such as example.com/gpu")
    elif name in seen:
        checks.fail_load(path, f"{shown(name)} is managed twice; only one extender can manage a resource")
    seen.add(name)


def _warn(checks: Checks, section: ExtenderSection, path: Path) -> None:
    pods = "pods that request its resources" if section.managed_resources else "pods"
    if section.filter_verb:
        checks.warn((*path, "filterVerb"), f"an extender filters nodes; whether {pods} fit is unknown")
    if section.prioritize_verb:
        checks.warn((*path, "prioritizeVerb"), f"an extender scores nodes; which one {pods} get is unknown")
    if section.bind_verb:
        checks.warn((*path, "bindVerb"), f"an extender binds {pods}; it is assumed to bind to the chosen node")


def _extender(section: ExtenderSection) -> Extender:
    return Extender(
        url_prefix=section.url_prefix,
        filters=bool(section.filter_verb),
        prioritizes=bool(section.prioritize_verb),
        weight=section.weight,
        binds=bool(section.bind_verb),
        preempts=bool(section.preempt_verb),
        managed_resources=frozenset(resource.name for resource in section.managed_resources),
        ignored_resources=tuple(r.name for r in section.managed_resources if r.ignored_by_scheduler),
        ignorable=section.ignorable,
    )
