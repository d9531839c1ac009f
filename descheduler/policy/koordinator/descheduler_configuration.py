"""Documents of kind DeschedulerConfiguration (`descheduler/v1alpha2`), as koordinator-sh/koordinator 1.8 reads them.

Every field is strict: unknown and duplicate keys are errors anywhere in the document.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.documents.decode import Strictness
from descheduler.documents.problems import shown
from descheduler.documents.source import digest_of
from descheduler.model.selection.labels import LabelError, LabelSelector
from descheduler.policy.checks import Checks, check_eviction_limits, compatibility_of
from descheduler.policy.koordinator.component_config import (
    ClientConnectionSection,
    LeaderElectionSection,
    check_client,
    read_address,
    read_leader_election,
)
from descheduler.policy.koordinator.profile import KoordinatorProfileSection, ProfileReader
from descheduler.policy.plugin import Registry
from descheduler.policy.shared_args import Args, LabelSelectorArg, UIntOrPercent, compile_selector, one_of
from descheduler.policy.types import COMPATIBILITIES, Policy

_DEFAULT_PROFILE_NAME = "koord-descheduler"


class DeschedulerConfigurationSection(Args, frozen=True):
    """The document as written; `compatibility` is this program's own field."""

    api_version: str = ""
    """`descheduler/v1alpha2`."""
    kind: str = ""
    """`DeschedulerConfiguration`."""
    leader_election: LeaderElectionSection = LeaderElectionSection()
    """The Lease that keeps two runs from evicting at once."""
    client_connection: ClientConnectionSection = ClientConnectionSection()
    """How the API server is reached."""
    healthz_bind_address: str | None = None
    """Checked, and without effect: nothing is served."""
    metrics_bind_address: str | None = None
    """Checked, and without effect: nothing is served."""
    enable_profiling: bool | None = None
    """Read, and without effect."""
    enable_contention_profiling: bool | None = None
    """Read, and without effect."""
    descheduling_interval: timedelta = timedelta(0)
    """Read, and without effect: the program runs once."""
    dry_run: bool = False
    """Whether every run is a dry run."""
    profiles: tuple[KoordinatorProfileSection, ...] = ()
    """Sets of plugins with their arguments; all of them run, in this order."""
    node_selector: LabelSelectorArg | None = None
    """Nodes that plugins look at; all nodes when unset."""
    max_no_of_pods_to_evict_per_node: UIntOrPercent | None = None
    """Pods that may be evicted from one node in a run; no limit when unset, none with 0. A percentage such as `10%` is
    one of the pods of the node that have not finished, rounded down, and at least 1."""
    max_no_of_pods_to_evict_per_namespace: UIntOrPercent | None = None
    """Pods that may be evicted in one namespace in a run; no limit when unset, none with 0. A percentage is one of the
    pods of the namespace."""
    max_no_of_pods_to_evict_total: UIntOrPercent | None = None
    """Pods that may be evicted in a run; no limit when unset, none with 0. A percentage is one of all pods."""
    compatibility: Annotated[str, one_of(COMPATIBILITIES)] = ""
    """`upstream` reproduces upstream's defects that change decisions; `fixed`, the default, does not."""


def read_descheduler_configuration(checks: Checks, registry: Registry) -> Policy:
    """The policy in the document of `checks`, which collects what is wrong with it."""
    document = checks.load.document
    section = checks.load.partial(document.root, DeschedulerConfigurationSection, (), Strictness("error", "error"))
    check_eviction_limits(checks, section)
    profiles = _with_default_profile(section.profiles)
    _check_names(checks, profiles)
    qps, burst = check_client(checks, section.client_connection)
    profiling = section.enable_profiling is not False
    return Policy(
        kind="DeschedulerConfiguration",
        path=document.path,
        profiles=tuple(
            ProfileReader(checks, profile, index, registry).read() for index, profile in enumerate(profiles)
        ),
        node_selector=_compile_node_selector(checks, section.node_selector),
        node_selector_spec=section.node_selector,
        max_evictions_per_node=section.max_no_of_pods_to_evict_per_node,
        max_evictions_per_namespace=section.max_no_of_pods_to_evict_per_namespace,
        max_evictions_total=section.max_no_of_pods_to_evict_total,
        dry_run=section.dry_run,
        descheduling_interval=section.descheduling_interval,
        kubeconfig=section.client_connection.kubeconfig,
        client_qps=qps,
        client_burst=burst,
        leader_election=read_leader_election(checks, section.leader_election),
        healthz_bind_address=read_address(checks, "healthzBindAddress", section.healthz_bind_address),
        metrics_bind_address=read_address(checks, "metricsBindAddress", section.metrics_bind_address),
        enable_profiling=profiling,
        enable_contention_profiling=profiling and section.enable_contention_profiling is not False,
        compatibility=compatibility_of(checks, section.compatibility, "fixed"),
        digest=digest_of(document),
    )


def _with_default_profile(profiles: tuple[KoordinatorProfileSection, ...]) -> tuple[KoordinatorProfileSection, ...]:
    """`profiles`, or one of defaults when there is none; a single one may go without a name."""
    first, *others = profiles or (KoordinatorProfileSection(),)
    if others or first.name:
        return profiles
    return (msgspec.structs.replace(first, name=_DEFAULT_PROFILE_NAME),)


def _check_names(checks: Checks, profiles: tuple[KoordinatorProfileSection, ...]) -> None:
    seen = set[str]()
    for index, name in enumerate(profile.name for profile in profiles):
        path = ("profiles", index, "name")
        if not name:
            checks.fail_load(path, "is missing; name every profile when there are several")
        elif name in seen:
            checks.fail_load(path, f"{shown(name)} is the name of an earlier profile too")
        seen.add(name)


def _compile_node_selector(checks: Checks, selector: LabelSelectorArg | None) -> LabelSelector | None:
    try:
        return compile_selector(selector)
    except LabelError as error:
        checks.fail_load(("nodeSelector",), str(error))
        return None
