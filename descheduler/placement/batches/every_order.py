"""Proof that a batch lands in every order: whatever the others do, each replacement has a node left.

The others are an adversary, who puts them where they may go, whatever scores say, in any order and at any time. That
covers all tie-breaks, nodes that a scheduler does not look at, and room that victims hold until they are gone. For each
class the proof compares its nodes with those that the others can close to it at most:

* by what they request. To close node n by resource j they have to put more of j there than is left beside the pod,
  and for that at least so many pods. Each pod, and what it requests, is on one node only.
* by anything else on their own node, such as a host port or a device: a node for each pod that can.

A topology spread constraint leaves the domain with the fewest pods open, so that each domain needs such a node. Quotas
know no nodes: what they admit last, once all others are there, they admit at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.batches.single_landings import SPREAD, SingleLanding
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import PODS_ROW, NodeTable
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.shadow.topology import HOSTNAME_KEY

__all__ = ["Crowd", "uncertain_crowds"]

_QUOTA = "ElasticQuota"
_ANY_NODE = 0


class Crowd:
    """So many pods of one class, which `scheduler` may put on any node of `may`.

    Where each of them has to land, `single` is set to what it finds alone, else it is None. `amounts` are what each
    requests, by resource row.
    """

    def __init__(
        self,
        placement_class: PlacementClass,
        number: int,
        scheduler: SchedulerModel,
        may: BoolMask,
    ) -> None:
        self.pod = placement_class.pod
        self.number = number
        self.scheduler = scheduler
        self.may = may
        self.single: SingleLanding | None = None
        self.amounts: Mapping[int, int] = {PODS_ROW: 1, **dict(placement_class.demand.amounts)}


def uncertain_crowds(crowds: Sequence[Crowd], cluster: ShadowCluster) -> list[Crowd]:
    """Those that have to land, and for which there is no proof. `cluster` is without all of them and all victims."""
    hosts = cluster.table.label(HOSTNAME_KEY)
    if len(hosts.values) != int((hosts.ids >= 0).sum()):
        return [crowd for crowd in crowds if crowd.single is not None]  # plugins take these names to be unique
    wide = [other for other in crowds if other.scheduler.is_felt_widely(other.pod)]
    asked = ((crowd, crowd.single) for crowd in crowds if crowd.single is not None)
    return [crowd for crowd, single in asked if not _Proof(crowd, single, crowds, wide, cluster).holds()]


class _Other(NamedTuple):
    """So many pods of a crowd, beside the one that looks for a node."""

    crowd: Crowd
    number: int


class _Proof:
    """For one pod of `crowd`, beside all others of `crowds`, of which those in `wide` are felt on other nodes."""

    def __init__(
        self,
        crowd: Crowd,
        single: SingleLanding,
        crowds: Sequence[Crowd],
        wide: Sequence[Crowd],
        cluster: ShadowCluster,
    ) -> None:
        self._crowd, self._single, self._scheduler = crowd, single, crowd.scheduler
        self._crowds, self._wide, self._cluster = crowds, wide, cluster
        self._others: Sequence[_Other] = ()
        """Those that may come to a node that the pod may have."""

    def holds(self) -> bool:
        """Whether a node is left for the pod whatever the others do."""
        single = self._single
        interacting = self._interacting() if single.feasible.any() else None
        if interacting is None or not interacting <= {SPREAD, _QUOTA}:
            return False
        if _QUOTA in interacting and not self._is_admitted_last():
            return False
        if SPREAD in interacting:
            self._others = list(self._beside(single.beside_spread))
            return self._holds_spread(single.beside_spread)
        if sum(other.number for other in self._crowds) <= int(single.feasible.sum()):
            return True  # each of the others closes one node at most
        self._others = list(self._beside(single.feasible))
        return self._stays_open(single.feasible)

    def _is_admitted_last(self) -> bool:
        """Whether the quotas admit the pod once all others are there, wherever that is, as they do while none is."""
        pod = self._crowd.pod
        with self._cluster.what_if():
            for other in self._crowds:
                for _ in range(other.number - (other is self._crowd)):
                    self._cluster.add(other.pod, _ANY_NODE)
            return all(obstacle.plugin != _QUOTA for obstacle in self._scheduler.evaluate(pod).refusals)

    def _interacting(self) -> frozenset[str]:
        """The plugins by which any of the others bears on other nodes than its own."""
        pod = self._crowd.pod
        others = self._wide if self._scheduler.is_local(pod) else self._crowds
        beside = [each.pod for each in others if each is not self._crowd or each.number > 1]
        # Not asked pair by pair: one tenant can have thousands of pods, each with constraints of its own.
        by_spread = {SPREAD} if beside and self._scheduler.reaches(SPREAD, pod) else set[str]()
        return frozenset(by_spread).union(*(self._scheduler.interacting(each, pod, but_for=SPREAD) for each in beside))

    def _beside(self, nodes: BoolMask) -> Iterator[_Other]:
        """The others that may come to any of `nodes`."""
        for other in self._crowds:
            number = other.number - (other is self._crowd)
            if number and bool((other.may & nodes).any()):
                yield _Other(other, number)

    def _stays_open(self, nodes: BoolMask) -> bool:
        """Whether the others cannot close all of `nodes`."""
        num_nodes, num_others = int(nodes.sum()), sum(other.number for other in self._others)
        if num_others < num_nodes:
            return True
        closing = [other for other in self._others if self._scheduler.closes(other.crowd.pod, self._crowd.pod)]
        if self._is_one_beyond_reach(nodes, closing):
            return True
        num_closing = sum(other.number for other in closing)
        return num_closing < num_nodes and num_closing + self._num_filled(nodes, num_others) < num_nodes

    def _is_one_beyond_reach(self, nodes: BoolMask, closing: Sequence[_Other]) -> bool:
        """Whether one of `nodes` has room for the pod beside all that may come to it."""
        is_closable = np.zeros(int(nodes.sum()), dtype=bool)
        for other in closing:
            is_closable |= other.crowd.may[nodes]
        for row in self._crowd.amounts:
            coming = np.zeros(len(is_closable), dtype=np.float64)
            for crowd, number in self._others:
                coming += float(crowd.amounts.get(row, 0)) * number * crowd.may[nodes]
            is_closable |= coming > self._beside_pod(row, nodes)
        return not is_closable.all()

    def _beside_pod(self, row: int, nodes: BoolMask) -> NDArray[np.int64]:
        """What is left of a resource on `nodes` once the pod is there."""
        left: NDArray[np.int64] = _room(self._cluster.table, row, self._single)[nodes] - self._crowd.amounts[row]
        return left

    def _num_filled(self, nodes: BoolMask, num_others: int) -> int:
        """How many of `nodes` the others can fill at most, so that the pod has no room there by what it requests."""
        by_resource, num_pods = 0, np.full(int(nodes.sum()), num_others + 1)
        for row in self._crowd.amounts:
            taken = np.array(sorted(self._taken(row), reverse=True), dtype=np.float64)
            if len(taken):
                # Sums are exact up to 2^53, which is more than a cluster has of anything.
                beside = self._beside_pod(row, nodes).astype(np.float64)
                in_all = np.cumsum(taken)
                by_resource += _num_affordable(beside + 1, float(in_all[-1]))
                is_filled = beside < in_all[-1]
                needed = np.searchsorted(in_all, beside[is_filled], side="right") + 1
                num_pods[is_filled] = np.minimum(num_pods[is_filled], needed)
        return min(by_resource, _num_affordable(num_pods, num_others))

    def _taken(self, row: int) -> Iterator[int]:
        """What each of the others requests of a resource, as far as it does."""
        for crowd, number in self._others:
            if amount := crowd.amounts.get(row, 0):
                yield from repeat(amount, number)

    def _holds_spread(self, nodes: BoolMask) -> bool:
        """Whether one of `nodes` is left, which all plugins but PodTopologySpread let the pod have."""
        constraints = self._scheduler.spread(self._crowd.pod)
        if len(constraints) != 1 or self._single.sees_more:
            return False
        (constraint,) = constraints
        counted = constraint.counted
        if counted.num < constraint.min_domains:
            return False  # then domains are compared with one that has no pods, and do not help each other
        domains = counted.domains.ids
        reached = np.unique(domains[nodes & (domains < counted.domains.num)])
        never_closed = [each for each in reached.tolist() if self._stays_open(nodes & (domains == each))]
        if set(counted.there.tolist()) <= set(never_closed):
            return True  # the one with the fewest pods is open
        return self._num_until_uneven(constraint, never_closed) > self._num_counting(constraint)

    def _num_until_uneven(self, constraint: SpreadConstraint, domains: Sequence[int]) -> int:
        """How many pods have to come before the constraint closes all of `domains`, though none comes to the others."""
        sums = constraint.counted.sums(self._cluster.follow(PodCounts).found(constraint.query))
        most = constraint.counted.least(sums) + constraint.max_skew - constraint.is_self_matching
        return int(np.maximum(0, most + 1 - sums[domains]).sum())

    def _num_counting(self, constraint: SpreadConstraint) -> int:
        """How many of the others the constraint counts."""
        query = constraint.query
        counting = (each for each in self._others if query.covers(each.crowd.pod.namespace, each.crowd.pod.labels))
        return sum(other.number for other in counting)


def _num_affordable(costs: NDArray[np.float64] | NDArray[np.int64], budget: float) -> int:
    """How many of `costs` the budget pays for at most."""
    return int(np.count_nonzero(np.cumsum(np.sort(costs)) <= budget))


def _room(table: NodeTable, row: int, single: SingleLanding) -> NDArray[np.int64]:
    """What a class may use of a resource on each node: what is free, and what plugins grant it on top."""
    free: NDArray[np.int64] = table.allocatable[row] - table.requested[row]
    return free + single.credit[row] if row in single.credit else free
