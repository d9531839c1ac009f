"""Quotas that use more than they may, now and for some time, and the pods that are revoked from them.

The pods are those of koordinator 1.8 `quota_overuse_revoke.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.koordinator.elastic_quota import PREEMPTIBLE_LABEL
from descheduler.model.pod import Pod
from descheduler.model.requests import ceil_amount
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_usage import UsageOf

__all__ = ["OverusedQuota", "QuotaReview", "is_preemptible", "least_important_first", "victims"]


class OverusedQuota(msgspec.Struct, frozen=True):
    """A quota, what it may use, what its pods use, and those pods themselves."""

    name: str
    limit: Charges
    used: Charges
    pods: tuple[ChargedPod, ...]

    @property
    def excess(self) -> str:
        """Each resource of which it uses too much, such as `8 CPU (runtime: 4)`."""
        over = sorted(name for name, most in self.limit.items() if self.used.get(name, 0) > most)
        shown = (f"{amount_of(n, self.used[n])} (runtime: {amount_text(n, self.limit[n])})" for n in over)
        return ", ".join(shown)


class QuotaReview:
    """The quotas of the cluster of `view`, with the moves booked in it; terminating pods count as gone.

    `until` leaves out pods that were created later.
    """

    def __init__(self, view: ClusterView, usage_of: UsageOf, until: datetime | None = None) -> None:
        snapshot = view.snapshot
        known = tuple(pod for pod in snapshot.pods if _exists(pod, until))
        usage = usage_of.over(replace(snapshot, pods=known))
        self._admission = QuotaAdmission(usage)
        self._pods_by_quota: dict[str, list[Pod]] = {}
        for node_name in snapshot.pods_by_node:
            for pod in view.active_pods_on(node_name):
                if _exists(pod, until) and not pod.is_terminating:
                    usage.pod_added(pod, 0, is_terminating=False)
                    self._list(pod)
        usage.settle()

    @property
    def num_quotas(self) -> int:
        """Quotas that anybody made."""
        return sum(not place.is_built_in for place in self._admission.usage.forest.places)

    def quota_of(self, pod: Pod) -> str:
        """The name of the quota of `pod`, empty for none."""
        account = self._admission.usage.account_of(pod)
        return "" if account is None else account.place.quota.name

    def overused(self) -> Iterator[OverusedQuota]:
        """The quotas that use more than they may, by name."""
        for place in sorted(self._admission.usage.forest.places, key=lambda place: place.quota.name):
            limit, used = self._admission.limit(place), self._admission.used(place)
            if not _fits(used, limit):
                yield OverusedQuota(place.quota.name, limit, used, self._charged(place))

    def _charged(self, place: QuotaPlace) -> tuple[ChargedPod, ...]:
        return tuple((pod, _charges(pod)) for pod in self._pods_by_quota.get(place.quota.name, ()))

    def _list(self, pod: Pod) -> None:
        self._pods_by_quota.setdefault(self.quota_of(pod), []).append(pod)


def _exists(pod: Pod, until: datetime | None) -> bool:
    return until is None or pod.created_at is None or pod.created_at <= until


def _charges(pod: Pod) -> Mapping[str, int]:
    return {name: ceil_amount(name, nano) for name, nano in pod.spec.requests.items()}


Charges = Mapping[str, int]
"""Resource → amount in the units of quotas."""
ChargedPod = tuple[Pod, Charges]


def _fits(used: Charges, limit: Charges) -> bool:
    """Whether nothing that both name is exceeded."""
    return all(used[name] <= most for name, most in limit.items() if name in used)


def is_preemptible(pod: Pod) -> bool:
    """Whether a quota may take `pod` back."""
    return pod.labels.get(PREEMPTIBLE_LABEL) != "false"


def least_important_first(pods: Iterable[ChargedPod]) -> list[ChargedPod]:
    """By priority, those that started later first; equal ones by namespace and name."""
    return sorted(pods, key=lambda charged: _importance(charged[0]))


def victims(pods: Sequence[ChargedPod], used: Charges, limit: Charges) -> list[Pod]:
    """The `pods` (least important first) that leave so that `used` comes within `limit`; in the same order.

    Pods are collected until what is left fits. If it never does, all of them leave; else they are put back, the most
    important first, and those leave that do not fit any more. As measured, what the collected pod does not request is
    out of account from then on, so that a quota may stay over in another resource until the next run.
    """
    left = dict(used)
    collected: list[ChargedPod] = []
    for pod, charges in pods:
        if _fits(left, limit):
            break
        if is_preemptible(pod):
            left = _without(left, charges)
            collected.append((pod, charges))
    if not _fits(left, limit):
        return [pod for pod, _ in collected]
    leaving: list[Pod] = []
    for pod, charges in reversed(collected):
        back = {name: left.get(name, 0) + charges.get(name, 0) for name in {*left, *charges}}
        if _fits(back, limit):
            left = back
        else:
            leaving.append(pod)
    return leaving[::-1]


def _without(used: Charges, charges: Charges) -> dict[str, int]:
    return {name: used.get(name, 0) - amount for name, amount in charges.items()}


def _importance(pod: Pod) -> tuple[int, float, str]:
    started = -pod.started_at.timestamp() if pod.started_at is not None else float("-inf")
    return pod.priority or 0, started, pod.key
