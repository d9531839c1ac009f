"""How many evictions a run may make per node, per namespace and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.request_check import Allowance, PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.eviction_limits import EvictionLimit
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict, limit_reached
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.prior_moves import PriorMove
from descheduler.policy.types import Policy

__all__ = ["EvictionCounters", "EvictionLimits", "LimitCheck", "limits_of"]


class EvictionLimits(msgspec.Struct, frozen=True):
    """Upper bounds of one run over all profiles; None is unlimited, 0 forbids."""

    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None


def limits_of(policy: Policy) -> EvictionLimits:
    """What a cycle of the policy may evict at most."""
    return EvictionLimits(policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total)


class EvictionCounters(msgspec.Struct):
    """Evictions counted so far; those left to another controller (background) count against the limits too."""

    limits: EvictionLimits
    per_node: Counter[str] = msgspec.field(default_factory=Counter)
    per_namespace: Counter[str] = msgspec.field(default_factory=Counter)
    total: int = 0

    def verdict(self, pod: Pod) -> Verdict:
        """Whether one more eviction stays within the limits; asked in upstream's order: total, node, namespace."""
        limits = self.limits
        if limits.total is not None and self.total + 1 > limits.total:
            return limit_reached(EvictionLimit.TOTAL, limits.total)
        node = pod.node_name
        if node and limits.per_node is not None and self.per_node[node] + 1 > limits.per_node:
            return limit_reached(EvictionLimit.NODE, limits.per_node, node)
        namespace = pod.namespace
        if limits.per_namespace is not None and self.per_namespace[namespace] + 1 > limits.per_namespace:
            return limit_reached(EvictionLimit.NAMESPACE, limits.per_namespace, namespace)
        return ACCEPTED

    def count(self, pod: Pod) -> Undo:
        """Charges one eviction of `pod`."""
        self._add(pod, 1)
        return lambda: self._add(pod, -1)

    def allowances(self) -> Iterator[Allowance]:
        """What is left of each limit."""
        limits = self.limits
        if limits.total is not None:
            yield _left_of(lambda pod: "", limits.total, lambda key: self.total)
        if limits.per_node is not None:
            yield _left_of(lambda pod: pod.node_name or None, limits.per_node, self.per_node.__getitem__)
        if limits.per_namespace is not None:
            yield _left_of(lambda pod: pod.namespace, limits.per_namespace, self.per_namespace.__getitem__)

    def _add(self, pod: Pod, number: int) -> None:
        if pod.node_name:
            self.per_node[pod.node_name] += number
        self.per_namespace[pod.namespace] += number
        self.total += number


def _left_of(key_of: Callable[[Pod], str | None], limit: int, count_of: Callable[[str], int]) -> Allowance:
    return Allowance(key_of, lambda key: limit - count_of(str(key)))


class LimitCheck(PodByPod):
    """Refuses what is above the limits of the run. Repeated requests count again, as upstream has it."""

    def __init__(self, limits: EvictionLimits, background: BackgroundEvictions) -> None:
        self.counters = EvictionCounters(limits)
        self._background = background
        for pod in background.in_progress:
            self.counters.count(pod)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether one more eviction stays within the limits. One that another controller has begun counts already."""
        del bundle
        return ACCEPTED if self._background.have_begun(candidate.pod) else self.counters.verdict(candidate.pod)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts the eviction."""
        del bundle
        return NOTHING_DONE if self._background.have_begun(candidate.pod) else self._count(candidate.pod)

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left of the limits of the run."""
        del profile_index
        return tuple(self.counters.allowances())

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Counts what earlier rounds have evicted or handed over."""
        for move in moves:
            self._count(move.pod)

    def _count(self, pod: Pod) -> Undo:
        # Of a finished pod another controller has nothing left to evacuate.
        is_nothing = pod.is_terminal and self._background.take_over(pod)
        return NOTHING_DONE if is_nothing else self.counters.count(pod)
