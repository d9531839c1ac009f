"""How many evictions a run may make per node, per namespace and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.cluster_view import NO_PODS, ClusterCounts, pods_for
from descheduler.eviction.request_check import Allowance, PodByPod, allowance_by_pod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.pod import Pod
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.model.verdict import ACCEPTED, EvictionLimit, LimitReached, Verdict, limit_reached
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy

_IN_ORDER = EvictionLimit.TOTAL, EvictionLimit.NODE, EvictionLimit.NAMESPACE


class RunLimits(msgspec.Struct, frozen=True):
    """Upper bounds of one run over all profiles; None is unlimited, 0 forbids, a percentage is one of `pods`.

    Those in total and of a namespace are what `shard` has of them.
    """

    per_node: int | str | None = None
    per_namespace: int | str | None = None
    total: int | str | None = None
    pods: ClusterCounts = NO_PODS
    shard: Shard = WHOLE_CLUSTER

    def of(self, node: str, namespace: str) -> Iterator[LimitReached]:
        """The limits on evictions from there, as they are once reached, in upstream's order: total, node, namespace.

        Those of a node only where `node` is not "".
        """
        found = (self.at(limit, node, namespace) for limit in self.given)
        return (each for each in found if each is not None)

    def at(self, limit: EvictionLimit, node: str, namespace: str) -> LimitReached | None:
        """This one of them; None where there is none such."""
        pods = self.pods
        if limit is EvictionLimit.TOTAL and self.total is not None:
            return LimitReached.of(limit, self.total, num_pods=pods.total, shard=self.shard)
        if limit is EvictionLimit.NODE and self.per_node is not None and node:
            return LimitReached.of(limit, self.per_node, node, num_pods=pods.by_node.get(node, 0))
        if limit is EvictionLimit.NAMESPACE and self.per_namespace is not None:
            num_pods = pods.by_namespace.get(namespace, 0)
            return LimitReached.of(limit, self.per_namespace, namespace, num_pods=num_pods, shard=self.shard)
        return None

    @property
    def given(self) -> Sequence[EvictionLimit]:
        """Those that there are, in upstream's order."""
        written = zip(_IN_ORDER, (self.total, self.per_node, self.per_namespace), strict=True)
        return [limit for limit, most in written if most is not None]


def limits_of(policy: Policy, snapshot: Snapshot) -> RunLimits:
    """What a cycle of the policy over `snapshot` may evict at most."""
    limits = policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total
    return RunLimits(*limits, pods_for(limits, snapshot), snapshot.shard)


class EvictionCounters(msgspec.Struct):
    """Evictions counted so far; those left to another controller (background) count against the limits too."""

    limits: RunLimits
    per_node: Counter[str] = msgspec.field(default_factory=Counter)
    per_namespace: Counter[str] = msgspec.field(default_factory=Counter)
    total: int = 0

    def verdict(self, pod: Pod) -> Verdict:
        """Whether one more eviction stays within the limits; the first one that it would exceed is told."""
        reached = (each for each in self.limits.of(pod.node_name, pod.namespace) if self._num(each) >= each.value)
        return next(map(limit_reached, reached), ACCEPTED)

    def _num(self, limit: LimitReached) -> int:
        """How many evictions count against `limit`."""
        match limit.limit:
            case EvictionLimit.NODE:
                return self.per_node[limit.scope]
            case EvictionLimit.NAMESPACE:
                return self.per_namespace[limit.scope]
            case _:
                return self.total

    def count(self, pod: Pod) -> Undo:
        """Charges one eviction of `pod`."""
        self._add(pod, 1)
        return lambda: self._add(pod, -1)

    def allowances(self) -> list[Allowance]:
        """What is left of each limit."""
        return [
            allowance_by_pod(partial(self._limit_on, limit), self._left, name_of=_name) for limit in self.limits.given
        ]

    def _limit_on(self, limit: EvictionLimit, pod: Pod) -> LimitReached | None:
        return self.limits.at(limit, pod.node_name, pod.namespace)

    def _left(self, limit: LimitReached, pod: Pod) -> int:
        return limit.value - self._num(limit)

    def _add(self, pod: Pod, number: int) -> None:
        if pod.node_name:
            self.per_node[pod.node_name] += number
        self.per_namespace[pod.namespace] += number
        self.total += number


def _name(limit: LimitReached) -> str:
    """Such as `maxNoOfPodsToEvictTotal (50)`."""
    return f"{limit.limit.value} ({limit.written})"


class LimitCheck(PodByPod):
    """Refuses what is above the limits of the run. Repeated requests count again, as upstream has it."""

    def __init__(self, limits: RunLimits, background: BackgroundEvictions) -> None:
        self.counters = EvictionCounters(limits)
        self._background = background
        for pod in background.in_progress:
            self.counters.count(pod)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether one more eviction stays within the limits. One that another controller has begun counts already."""
        return ACCEPTED if self._background.have_begun(candidate.pod) else self.counters.verdict(candidate.pod)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts the eviction."""
        return NOTHING_DONE if self._background.have_begun(candidate.pod) else self._count(candidate.pod)

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left of the limits of the run."""
        return self.counters.allowances()

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what earlier rounds have evicted or handed over."""
        for move in moves:
            self._count(move.pod)

    def _count(self, pod: Pod) -> Undo:
        # Of a finished pod another controller has nothing left to evacuate.
        is_nothing = pod.is_terminal and self._background.take_over(pod)
        return NOTHING_DONE if is_nothing else self.counters.count(pod)
