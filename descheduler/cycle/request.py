"""What is read of a cluster, a dump or objects for a policy: said once for runs, dry runs, `evaluate` and `explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

import msgspec

from descheduler.cluster.kind import TRACES_OF_SCHEDULERS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.model.koordinator.migration_job import MIGRATION_JOB_KIND
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND
from descheduler.policy.plugin import Needs, Registry
from descheduler.policy.priority_thresholds import threshold_of
from descheduler.policy.types import Policy

_ALWAYS_READ = frozenset({"Node", "Pod"})


class Landings(Enum):
    """What becomes of landings beside what the policy's plugins ask about them."""

    UNSEEN = auto()
    """Nothing."""
    ASSESSED = auto()
    """They are looked up for the report, as far as that takes little reading."""
    EXPLAINED = auto()
    """They are what was asked for."""


def snapshot_request(
    policy: Policy | None, landings: Landings, *, registry: Registry = REGISTRY, skip_broken: bool = False
) -> SnapshotRequest:
    """What a snapshot must hold for the plugins of `policy`, and as far as it may be read for `landings`."""
    needs = Needs(_ALWAYS_READ) if policy is None else Needs(_ALWAYS_READ) | _needs(policy, registry)
    wanted = _WANTED[landings]()
    return SnapshotRequest(
        needed=needs.kinds,
        wanted=wanted.kinds | wanted.wanted_kinds | needs.wanted_kinds,
        keep_conditions=needs.pod_conditions,
        keep_templates=needs.pod_templates or wanted.pod_templates,
        annotations=needs.annotations | wanted.annotations,
        # Only Koordinator's scheduler knows such reservations; kube-scheduler fills the node regardless.
        trims_reservations=policy is not None and policy.kind == "DeschedulerConfiguration",
        skip_broken=skip_broken,
        traces=frozenset() if policy is None or not policy.scheduler_files else TRACES_OF_SCHEDULERS,
    )


_WANTED: Mapping[Landings, Callable[[], Needs]] = {
    Landings.UNSEEN: Needs,
    Landings.ASSESSED: lambda: landing_needs(owners=False) | Needs(pod_templates=True),
    Landings.EXPLAINED: lambda: (
        landing_needs(owners=True)
        | Needs(frozenset({"PodDisruptionBudget.policy", NODE_METRIC_KIND, MIGRATION_JOB_KIND}), pod_templates=True)
    ),
}


def dumped_annotations(registry: Registry = REGISTRY) -> frozenset[str]:
    """The keys of annotations that some plugin may want to find in a dump, beside those that are always known."""
    needs = (spec.needs(spec.defaults(spec.args_type())) for spec in registry.values())
    return frozenset(key for each in needs for key in each.annotations)


def _needs(policy: Policy, registry: Registry) -> Needs:
    """What a cycle of the policy reads."""
    needs = Needs(frozenset({"PodDisruptionBudget.policy"}))
    for profile in policy.profiles:
        strategies = {*profile.deschedule, *profile.balance, *profile.used}
        for name in strategies.union(profile.filter, profile.pre_eviction_filter, profile.evict):
            needs |= registry[name].needs(profile.args[name])
    if any(_names_priority_class(args) for profile in policy.profiles for args in profile.args.values()):
        needs |= Needs(frozenset({"PriorityClass.scheduling.k8s.io"}))
    return needs


def _names_priority_class(args: msgspec.Struct) -> bool:
    threshold = threshold_of(args)
    return threshold is not None and threshold.value is None
