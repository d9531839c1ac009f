"""Pods whose move needs further pods that the API server would refuse: a ResourceQuota has no room for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, creates_placeholders
from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.eviction.request_check import PodByPod
from descheduler.model.groups.resource_quota import ResourceQuota, charge_of, charge_of_pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

__all__ = ["ResourceQuotaCheck"]


class ResourceQuotaCheck(PodByPod):
    """Refuses them to profiles that hold room by placeholders, or have workloads surge.

    Placeholders take turns, so that room for one is enough; a bundle needs all of its own at once. A placeholder
    requests what its pod does, and that is its limit, too. The second pod of a workload comes while the placeholder of
    the first is there.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot, surging: SurgingPods) -> None:
        self._with_placeholders = frozenset(
            index
            for index, profile in enumerate(profiles)
            if any(map(creates_placeholders, profile.args_of(MigrationControllerArgs, profile.evict)))
        )
        self._surging = surging
        self._quotas = defaultdict[str, list[ResourceQuota]](list)
        for quota in snapshot.quotas:
            self._quotas[quota.namespace].append(quota)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the placeholders of its bundle, and the second pod of its workload, have room beside the pods."""
        pod, index = candidate.pod, bundle.profile_index
        if not (quotas := self._quotas.get(pod.namespace)):
            return ACCEPTED
        is_surged = self._surging.has(pod, index)
        num_placeholders = 0
        if index in self._with_placeholders:
            num_placeholders = sum(each.pod.namespace == pod.namespace for each in bundle.candidates)
        for quota in quotas:
            added, counts = Counter[str](), num_placeholders if quota.covers(pod, PLACEHOLDER_CLASS) else 0
            counts_second = is_surged and quota.covers(pod, pod.spec.priority_class_name)
            _add(added, charge_of(pod.spec.requests, pod.spec.requests), counts)
            _add(added, charge_of_pod(pod), int(counts_second))
            if short_of := list(quota.short_of(added)):
                return _refusal(quota, short_of, counts, is_surged=counts_second)
        return ACCEPTED


def _add(added: Counter[str], charge: Mapping[str, int], number: int) -> None:
    for name, nano in charge.items():
        added[name] += nano * number


def _refusal(quota: ResourceQuota, short_of: Sequence[str], num_placeholders: int, *, is_surged: bool) -> Verdict:
    name = f"{quota.namespace}/{quota.name}"
    wanted, ways_out = [], []
    if num_placeholders:
        placeholders = (
            "the placeholder" if num_placeholders == 1 else f"the {num_placeholders} placeholders of its bundle"
        )
        wanted.append(f"{placeholders} (reservationProvider: placeholder)")
        ways_out.append("reservationProvider: none")
    if is_surged:
        wanted.append("the second pod of its workload (singleReplicas: Surge)")
        ways_out.append("singleReplicas: Evict")
    message = (
        f"ResourceQuota {name} ({', '.join(short_of)}) has no room for {' and '.join(wanted)}"
        f"; raise the quota, or set {' and '.join(ways_out)}"
    )
    return refuse(Reason.RESOURCE_QUOTA, message, name)
