"""What one shard of a cluster may evict: pods of its own nodes, and its share of what limits and budgets allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Protocol

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.eviction.request_check import Allowance, CountingCheck, PodByPod, RequestCheck
from descheduler.eviction.undo import Undo
from descheduler.model.groups.gangs import gangs_of
from descheduler.model.pod import Pod
from descheduler.model.shard import Shard
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.types import Profile


class ShardCheck(PodByPod):
    """Refuses pods on nodes of other shards.

    Of a gang that has pods in several shards one shard alone may evict, where a profile is held to what gangs need.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        self._heeds_gangs = [verification_args(profile) is not None for profile in profiles]
        self._snapshot = snapshot
        self._shard = snapshot.shard

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod is one of the shard's."""
        if self._shard.is_whole:
            return ACCEPTED
        pod = candidate.pod
        if not self._has(pod):
            message = f"node {pod.node_name} belongs to another shard; this run evicts for {self._shard}"
            return refuse(Reason.OTHER_SHARD, message, pod.node_name)
        gangs = gangs_of(pod) if self._heeds_gangs[bundle.profile_index] else ()
        gang = next((each for each in gangs if not self._may_shrink(each)), None)
        if gang is None:
            return ACCEPTED
        message = f"gang {gang} has pods in several shards; in this run another shard than {self._shard} may evict them"
        return refuse(Reason.SHARD_SHARE, message, gang)

    def _has(self, pod: Pod) -> bool:
        """Whether the pod is on a node of the shard; a pod on no known node belongs to the first."""
        node = self._snapshot.nodes_by_name.get(pod.node_name)
        return self._shard.index == 0 if node is None else self._shard.owns(node)

    def _may_shrink(self, gang: str) -> bool:
        members = self._snapshot.gangs.members.get(gang, ())
        return self._shard.share(1, gang) > 0 or all(self._has(each) for each in members if each.node_name)


class _Counted(RequestCheck, CountingCheck, Protocol):
    """A check that also says how many pods it admits."""


def divided(check: RequestCheck, shard: Shard) -> RequestCheck:
    """`check` as it is for one shard: of the numbers of pods that it admits only the share of the shard."""
    if shard.is_whole or not isinstance(check, CountingCheck):
        return check
    return _DividedCheck(check, shard)


class _Tally(msgspec.Struct):
    """What the run has used of one allowance, and the most that it may use, by key, from when it was first asked."""

    allowance: Allowance
    used: Counter[Hashable] = msgspec.field(default_factory=Counter)
    allowed: dict[Hashable, int] = msgspec.field(default_factory=dict)

    def allowed_to_all(self, key: Hashable) -> int:
        """What all shards together could use of it before this run had used anything."""
        known = self.allowed.get(key)
        if known is None:
            known = self.allowed[key] = max(0, self.allowance.left(key) + self.used[key])
        return known

    def count(self, pod: Pod, number: int) -> None:
        """Takes in that `pod` goes, or stays after all."""
        if (key := self.allowance.key_of(pod)) is not None:
            self.allowed_to_all(key)
            self.used[key] += number


class _DividedCheck:
    """`inner`, and beside it the shard's share of each of its allowances that shards divide."""

    def __init__(self, inner: _Counted, shard: Shard) -> None:
        self._inner = inner
        self._shard = shard
        self._gone: Counter[Pod] = Counter()
        """How often each pod was counted."""
        self._tallies: dict[int, list[_Tally]] = {}

    def verdict(self, bundle: Bundle) -> Verdict:
        """The refusal of the check itself, else that of the first share that is used up."""
        verdict = self._inner.verdict(bundle)
        if not verdict.is_accepted:
            return verdict
        return next(self._refusals(bundle), ACCEPTED)

    def charge(self, bundle: Bundle) -> Undo:
        """Counts all pods, in the check as well."""
        pods = bundle.pods
        self._of(bundle.profile_index)
        self._count(pods, 1)
        give_back = self._inner.charge(bundle)

        def undo() -> None:
            give_back()
            self._count(pods, -1)

        return undo

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what the run has evicted: the share is that of what was left before."""
        self._inner.adopt(moves)
        self._gone.update(move.pod for move in moves)

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left of the check's own allowances, and of the shares of them."""
        shares = [self._share_of(tally) for tally in self._of(profile_index)]
        return [*self._inner.allowances(profile_index), *shares]

    def _share_of(self, tally: _Tally) -> Allowance:
        inner = tally.allowance
        return Allowance(inner.key_of, lambda key: self._most(tally, key) - tally.used[key], name_of=inner.name_of)

    def _most(self, tally: _Tally, key: Hashable) -> int:
        return self._shard.share(tally.allowed_to_all(key), f"{tally.allowance.divided}/{key}")

    def _refusals(self, bundle: Bundle) -> Iterator[Verdict]:
        for tally in self._of(bundle.profile_index):
            asked = Counter(key for pod in bundle.pods if (key := tally.allowance.key_of(pod)) is not None)
            for key, number in asked.items():
                most = self._most(tally, key)
                if tally.used[key] + number > most:
                    left = tally.allowed_to_all(key)
                    what = f"{tally.allowance.divided} allows {left} more to all shards, and {most} to {self._shard}"
                    yield refuse(Reason.SHARD_SHARE, what, tally.allowance.divided)

    def _of(self, profile_index: int) -> list[_Tally]:
        """The tallies of a profile, which know of everything that has gone, for whichever profile."""
        known = self._tallies.get(profile_index)
        if known is None:
            found = (each for each in self._inner.allowances(profile_index) if each.divided)
            known = self._tallies[profile_index] = [_Tally(each) for each in found]
            for tally in known:
                self._start(tally)
        return known

    def _start(self, tally: _Tally) -> None:
        for pod, number in self._gone.items():
            if number and (key := tally.allowance.key_of(pod)) is not None:
                tally.used[key] += number

    def _count(self, pods: Sequence[Pod], number: int) -> None:
        for pod in pods:
            self._gone[pod] += number
            for tallies in self._tallies.values():
                for tally in tallies:
                    tally.count(pod, number)
