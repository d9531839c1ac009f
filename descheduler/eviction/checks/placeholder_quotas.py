"""Pods whose placeholder the API server would refuse: a ResourceQuota of their namespace has no room for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, creates_placeholders
from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.eviction.request_check import PodByPod
from descheduler.model.resource_quota import ResourceQuota, charge_of
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

__all__ = ["PlaceholderQuotaCheck"]


class PlaceholderQuotaCheck(PodByPod):
    """Refuses them to profiles that hold room by placeholders.

    Placeholders take turns, so that room for one is enough; a bundle needs all of its own at once. A placeholder
    requests what its pod does, and that is its limit, too.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        self._has_placeholders = [
            any(map(creates_placeholders, profile.args_of(MigrationControllerArgs, profile.evict)))
            for profile in profiles
        ]
        self._quotas = defaultdict[str, list[ResourceQuota]](list)
        for quota in snapshot.quotas if any(self._has_placeholders) else ():
            self._quotas[quota.namespace].append(quota)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the placeholders of its bundle have room beside the pods."""
        if not self._has_placeholders or not self._has_placeholders[bundle.profile_index]:
            return ACCEPTED
        pod = candidate.pod
        if not (quotas := self._quotas.get(pod.namespace)):
            return ACCEPTED
        number = sum(other.pod.namespace == pod.namespace for other in bundle.candidates)
        charge = charge_of(pod.spec.requests, pod.spec.requests)
        for quota in quotas:
            short_of = list(quota.short_of(charge, num_pods=number)) if quota.covers(pod, PLACEHOLDER_CLASS) else []
            if short_of:
                return _refusal(quota, short_of, number)
        return ACCEPTED


def _refusal(quota: ResourceQuota, short_of: Sequence[str], number: int) -> Verdict:
    name = f"{quota.namespace}/{quota.name}"
    placeholders = "the placeholder" if number == 1 else f"the {number} placeholders of its bundle"
    message = (
        f"ResourceQuota {name} ({', '.join(short_of)}) has no room for {placeholders}"
        " (reservationProvider: placeholder); raise the quota, or set reservationProvider: none"
    )
    return refuse(Reason.RESOURCE_QUOTA, message, name)
