"""What pods request and use of their quotas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from descheduler.cluster.kinds import KINDS
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.elastic_quota import PREEMPTIBLE_LABEL
from descheduler.model.koordinator.reservation import is_reserve_pod
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList
from descheduler.placement.plugins.elastic_quota.quota_forest import ForestSettings, QuotaForest, QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import Amounts
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

ELASTIC_QUOTA_KIND = "ElasticQuota.scheduling.sigs.k8s.io"


class PodRules(msgspec.Struct, frozen=True):
    """Feature gates of koord-scheduler on which it hangs what a pod is charged with."""

    ignores_overhead: bool = False
    """Gate ElasticQuotaIgnorePodOverhead."""
    ignores_terminating: bool = False
    """Gate ElasticQuotaImmediateIgnoreTerminatingPod."""
    ignores_overdue: bool = False
    """Gate ElasticQuotaIgnoreTerminatingPod. When the time to terminate is over hangs on
    `deletionGracePeriodSeconds` in koord-scheduler, which is added once more; here it is over at the deletion time."""


class QuotaAccount(msgspec.Struct, eq=False):
    """Pods that are charged alike. `names` are the resources that they request and their quota knows.

    `num_placed` are on a node, or were put there by the shadow cluster (`num_arrived` of them); `num_listed` are pods
    of the snapshot that wait for one. `applied` is how many users and requesters the sums of the tree hold.
    """

    place: QuotaPlace
    amounts: Amounts
    names: frozenset[str]
    is_fixed: bool
    num_placed: int = 0
    num_arrived: int = 0
    num_listed: int = 0
    applied: tuple[int, int] = (0, 0)

    @property
    def num_waiting(self) -> int:
        """Pods of the snapshot that still wait: the first ones that arrive are taken to be these."""
        return max(0, self.num_listed - self.num_arrived)

    @property
    def mark(self) -> tuple[str, tuple[int, ...], tuple[str, ...], bool]:
        """What it is about."""
        return self.place.quota.name, tuple(self.amounts.tolist()), tuple(sorted(self.names)), self.is_fixed


class QuotaUsage(CountingFollower):
    """A follower: a pod and whether it is placed say all that there is to say of its charge.

    A pod is charged with what it requests from the day that it exists, and uses that once it is on a node, whichever
    scheduler put it there, until it is gone. A replacement exists from its placement on; `incoming` counts it before.
    """

    def __init__(self, snapshot: Snapshot, settings: ForestSettings, rules: PodRules) -> None:
        self.settings = settings
        self.forest = QuotaForest(snapshot.of(KINDS[ELASTIC_QUOTA_KIND]), snapshot.nodes, settings)
        self._rules = rules
        self._now = snapshot.taken_at
        self._known: dict[tuple[int, int, str], tuple[QuotaAccount | None, object, object]] = {}
        self._accounts: dict[object, QuotaAccount] = {}
        self._changed: set[QuotaAccount] = set()
        for pod in () if self.forest.is_idle else snapshot.pods:
            if not (pod.node_name or pod.is_terminal) and self._counts(pod, is_terminating=pod.is_terminating):
                account = self.account_of(pod)
                if account is not None:
                    account.num_listed += 1
                    self._changed.add(account)

    def account_of(self, pod: Pod) -> QuotaAccount | None:
        """The pods that are charged as `pod` is; None for a pod without a quota."""
        key = id(pod.spec), id(pod.labels), pod.namespace
        known = self._known.get(key)
        if known is None:
            # The objects are kept along, so that nothing else gets their identities.
            known = self._known[key] = self._make(pod), pod.spec, pod.labels
        return known[0]

    def fingerprint(self) -> object:
        return sorted(
            (account.mark, account.num_placed, account.num_arrived)
            for account in self._accounts.values()
            if account.num_placed or account.num_arrived
        )

    def can_be_refused(self, pod: Pod) -> bool:
        """Whether the quota of `pod` may ever have no room for it."""
        account = None if self.forest.is_idle else self.account_of(pod)
        if account is None:
            return False
        return self.is_limited(account.place) or (account.is_fixed and bool(account.place.quota.min))

    def is_limited(self, place: QuotaPlace) -> bool:
        """Whether pods can exceed the quota: with runtime quota none exceeds the default and the system quota."""
        return not (self.settings.uses_runtime and place.is_built_in)

    def settle(self) -> None:
        """Brings the sums of the trees up to date."""
        for account in self._changed:
            tree, index = account.place.tree, account.place.index
            placed, requesting = account.num_placed, account.num_placed + account.num_waiting
            users, requesters = account.applied
            if placed != users:
                tree.add_used(index, account.amounts * (placed - users), is_fixed=account.is_fixed)
            if requesting != requesters:
                tree.add_request(index, account.amounts * (requesting - requesters), is_fixed=account.is_fixed)
            account.applied = placed, requesting
        self._changed.clear()

    @contextmanager
    def incoming(self, account: QuotaAccount) -> Iterator[None]:
        """The sums with one pod more of `account` that waits for a node, unless one of the snapshot does."""
        self.settle()
        if account.num_waiting:
            yield
            return
        tree, index = account.place.tree, account.place.index
        tree.add_request(index, account.amounts, is_fixed=account.is_fixed)
        try:
            yield
        finally:
            tree.add_request(index, -account.amounts, is_fixed=account.is_fixed)

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        # A Reservation is no use of a quota, although one is asked for it (koordinator's reference, §3.4).
        if self.forest.is_idle or is_reserve_pod(pod):
            return
        account = self.account_of(pod)
        if account is None or not self._counts(pod, is_terminating=is_terminating):
            return
        account.num_placed += sign
        if not pod.node_name:
            account.num_arrived += sign
        self._changed.add(account)

    def _counts(self, pod: Pod, *, is_terminating: bool) -> bool:
        if not is_terminating:
            return True
        if self._rules.ignores_terminating:
            return False
        is_over = pod.deleted_at is not None and self._now is not None and self._now > pod.deleted_at
        return not (self._rules.ignores_overdue and is_over)

    def _make(self, pod: Pod) -> QuotaAccount | None:
        place = self.forest.place_of(pod)
        if place is None:
            return None
        requests = self._charged(pod)
        names = frozenset(requests) & frozenset(place.quota.max)
        account = QuotaAccount(
            place,
            place.tree.charge(place.index, requests),
            names,
            is_fixed=pod.labels.get(PREEMPTIBLE_LABEL) == "false",
        )
        return self._accounts.setdefault(account.mark, account)

    def _charged(self, pod: Pod) -> ResourceList:
        spec = pod.spec
        if not (self._rules.ignores_overhead and spec.overhead):
            return spec.requests
        return {name: nano - spec.overhead.get(name, 0) for name, nano in spec.requests.items()}


class UsageOf(msgspec.Struct, frozen=True):
    """Makes the follower for these settings; plugins with the same ones share it."""

    settings: ForestSettings
    rules: PodRules

    def __call__(self, cluster: ShadowCluster) -> QuotaUsage:
        """The follower over `cluster`."""
        return self.over(cluster.snapshot)

    def over(self, snapshot: Snapshot) -> QuotaUsage:
        """The same without a shadow cluster: pods that wait count, placed ones are to be added."""
        return QuotaUsage(snapshot, self.settings, self.rules)
