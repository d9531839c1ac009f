"""Quotas that use more than they may, now and for some time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.pod import Pod
from descheduler.model.requests import ceil_amount
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_usage import UsageOf
from descheduler.strategies.revoke_pods_over_elastic_quota.victims import ChargedPod, Charges, fits


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
            if not fits(used, limit):
                yield OverusedQuota(place.quota.name, limit, used, self._charged(place))

    def _charged(self, place: QuotaPlace) -> tuple[ChargedPod, ...]:
        return tuple((pod, _charges(pod)) for pod in self._pods_by_quota.get(place.quota.name, ()))

    def _list(self, pod: Pod) -> None:
        self._pods_by_quota.setdefault(self.quota_of(pod), []).append(pod)


def _exists(pod: Pod, until: datetime | None) -> bool:
    return until is None or pod.created_at is None or pod.created_at <= until


def _charges(pod: Pod) -> Mapping[str, int]:
    return {name: ceil_amount(name, nano) for name, nano in pod.spec.requests.items()}
