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
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile


class ResourceQuotaCheck(PodByPod):
    """Refuses them to profiles that hold room by placeholders, or have workloads surge.

    Placeholders take turns, so that room for one is enough; a bundle needs all of its own at once. A placeholder
    requests what its pod does, and that is its limit, too. The second pod of a workload comes while the placeholder of
    the first is there, and in a bundle no pod of a wave leaves before the second ones of all of the wave are there.
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
        seconds = self._surging_with(candidate, bundle)
        num_placeholders = 0
        if index in self._with_placeholders:
            num_placeholders = sum(each.pod.namespace == pod.namespace for each in bundle.candidates)
        for quota in quotas:
            added, counts = Counter[str](), num_placeholders if quota.covers(pod, PLACEHOLDER_CLASS) else 0
            counted_seconds = [each for each in seconds if quota.covers(each, each.spec.priority_class_name)]
            _add(added, charge_of(pod.spec.requests, pod.spec.requests), counts)
            for each in counted_seconds:
                _add(added, charge_of_pod(each), 1)
            if short_of := list(quota.short_of(added)):
                return _refusal(quota, short_of, counts, len(counted_seconds))
        return ACCEPTED

    def _surging_with(self, candidate: Candidate, bundle: Bundle) -> Sequence[Pod]:
        """The pods of its namespace, itself among them, whose workloads have second ones when it leaves."""
        if not self._surging.has(candidate.pod, bundle.profile_index):
            return ()
        at_once = (each.pod for each in bundle.candidates if each.wave == candidate.wave)
        here = (pod for pod in at_once if pod.namespace == candidate.pod.namespace)
        return [pod for pod in here if self._surging.has(pod, bundle.profile_index)]


def _add(added: Counter[str], charge: Mapping[str, int], number: int) -> None:
    for name, nano in charge.items():
        added[name] += nano * number


def _refusal(quota: ResourceQuota, short_of: Sequence[str], num_placeholders: int, num_seconds: int) -> Verdict:
    name = f"{quota.namespace}/{quota.name}"
    wanted, ways_out = [], []
    if num_placeholders:
        placeholders = (
            "the placeholder" if num_placeholders == 1 else f"the {num_placeholders} placeholders of its bundle"
        )
        wanted.append(f"{placeholders} (reservationProvider: placeholder)")
        ways_out.append("reservationProvider: none")
    if num_seconds:
        whose = "pod of its workload" if num_seconds == 1 else f"pods of {num_seconds} workloads of its bundle"
        wanted.append(f"the second {whose} (singleReplicas: Surge)")
        ways_out.append("singleReplicas: Evict")
    message = (
        f"ResourceQuota {name} ({', '.join(short_of)}) has no room for {' and '.join(wanted)}"
        f"; raise the quota, or set {' and '.join(ways_out)}"
    )
    return refuse(Reason.RESOURCE_QUOTA, message, name)
