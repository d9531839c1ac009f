"""Proof that a batch lands in every order: whatever the others do, each replacement has a node left.

The others are an adversary, who puts them where they may go, whatever scores say, in any order and at any time, and who
may also leave victims where they are, if asked for. That covers all tie-breaks, nodes that a scheduler does not look
at, room that victims hold until they are gone, and evictions that the API server refuses when they are called. For each
class the proof compares its nodes with those that the others can close to it at most:

* by what they request. To close node n by resource j they have to put more of j there than is left beside the pod,
  and for that at least so many pods. Each pod, and what it requests, is on one node only.
* by anything else on their own node, such as a host port or a device: a node for each pod that can.

A topology spread constraint leaves the domain with the fewest pods open, so that each domain needs such a node. Quotas
know no nodes: what they admit last, once all others are there, they admit at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import HOSTNAME_LABEL
from descheduler.placement.batches.single_landings import SPREAD, SingleLanding
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.interactions import GatheredPods, Meetings, Places
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import PODS_ROW, NodeTable
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import PodQuery

_ANY_NODE = 0
Amounts = tuple[tuple[int, int], ...]
"""What a pod requests, by resource row."""


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

    def may_stay_on(self, node: int | None) -> None:
        """Counts that one of the pods may be on this node: that of its victim, whose eviction may be refused."""
        if node is not None and not self.may[node]:
            self.may = self.may.copy()
            self.may[node] = True


def uncertain_crowds(crowds: Sequence[Crowd], cluster: ShadowCluster, *, one_is_enough: bool = False) -> list[Crowd]:
    """Those that have to land, and for which there is no proof. `cluster` is without all of them and all victims.

    What may happen on each node is summed up once for all of them, and which pods bear on which is looked up. Where
    `one_is_enough`, those with the fewest nodes are looked at first, and no more once there is no proof for one.
    """
    if all(crowd.single is None for crowd in crowds):
        return []
    hosts = cluster.table.label(HOSTNAME_LABEL)
    if len(hosts.values) != int((hosts.ids >= 0).sum()):
        return [crowd for crowd in crowds if crowd.single is not None]  # plugins take these names to be unique
    arrays = _Arrays(crowds, cluster)
    asked = [(crowd, crowd.single, place) for place, crowd in enumerate(crowds) if crowd.single is not None]
    if one_is_enough:
        asked.sort(key=lambda each: np.count_nonzero(each[1].feasible))
    found = (crowd for crowd, single, place in asked if not _Proof(crowd, single, place, arrays).holds())
    return list(islice(found, 1) if one_is_enough else found)


class _Arrays:
    """C crowds as arrays, and what is the same for the proofs of all of them."""

    def __init__(self, crowds: Sequence[Crowd], cluster: ShadowCluster) -> None:
        self.crowds, self.cluster = crowds, cluster
        self.numbers = np.array([crowd.number for crowd in crowds], dtype=np.int64)
        """int64[C]: how many pods there are of each."""
        self._masks, self._which = _distinct([crowd.may for crowd in crowds])
        """Where they may go, which is the same for many of them: bool[M, N], and intp[C], the row of each."""
        self._bits = np.packbits(self._masks, axis=1)
        self._gathered = GatheredPods([crowd.pod for crowd in crowds])
        self._wide: dict[SchedulerModel, NDArray[np.bool_]] = {}
        self._amounts: dict[int, NDArray[np.int64]] = {}
        self._coming: dict[int, NDArray[np.float64]] = {}
        self._sizes: dict[int, tuple[NDArray[np.int64], NDArray[np.intp]]] = {}
        self.stays_open: dict[tuple[bytes, Amounts], bool] = {}
        """By nodes and what a pod requests: what is found for each crowd that no other closes by anything else, and
        that may go to all of these nodes."""
        self._closing: dict[SchedulerModel, Meetings] = {}
        self._interacting: dict[SchedulerModel, Mapping[str, Meetings]] = {}
        self._refused_last: set[int] | None = None

    def beside(self, place: int) -> NDArray[np.int64]:
        """int64[C]: how many pods of each crowd there are beside one of the crowd at `place`."""
        numbers = self.numbers.copy()
        numbers[place] -= 1
        return numbers

    def reach(self, nodes: BoolMask) -> NDArray[np.bool_]:
        """bool[C]: whether they may come to any of `nodes`."""
        return np.asarray((self._bits & np.packbits(nodes)).any(axis=1))[self._which]

    def may(self, places: Places) -> NDArray[np.bool_]:
        """bool[N]: where any of these crowds may go."""
        return np.asarray(self._masks[np.unique(self._which[places])].any(axis=0))

    def amounts(self, row: int) -> NDArray[np.int64]:
        """int64[C]: what one pod of each requests of a resource."""
        if row not in self._amounts:
            self._amounts[row] = np.array([crowd.amounts.get(row, 0) for crowd in self.crowds], dtype=np.int64)
        return self._amounts[row]

    def sizes(self, row: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """int64[S], what pods request of a resource, the most first, and intp[C], the place of each crowd in that."""
        if row not in self._sizes:
            of_size, places = np.unique(-np.maximum(0, self.amounts(row)), return_inverse=True)
            self._sizes[row] = -of_size, places
        return self._sizes[row]

    def coming(self, row: int, place: int) -> NDArray[np.float64]:
        """float64[N]: what all that may come to each node request there, beside one of the crowd at `place`.

        Sums are exact up to 2^53, which is more than a cluster has of anything.
        """
        if row not in self._coming:
            self._coming[row] = _sums(self.amounts(row) * self.numbers, self._which, len(self._masks)) @ self._masks
        own = float(self.amounts(row)[place])
        return self._coming[row] - own * self._masks[self._which[place]] if own else self._coming[row]

    def closing(self, place: int) -> Places:
        """The places of the crowds that may close their own node to the crowd at `place`, beside what they request."""
        scheduler = self.crowds[place].scheduler
        if scheduler not in self._closing:
            self._closing[scheduler] = scheduler.closing(self._gathered)
        return self._closing[scheduler].on(place)

    def interacting(self, place: int) -> frozenset[str]:
        """The plugins by which any other pod bears on one of the crowd at `place` on other nodes than its own."""
        pod, scheduler = self.crowds[place].pod, self.crowds[place].scheduler
        others = self.beside(place) > 0
        if scheduler.is_local(pod):
            others &= self._are_wide(scheduler)
        if not others.any():
            return frozenset()
        if scheduler not in self._interacting:
            self._interacting[scheduler] = scheduler.interacting(self._gathered, but_for=(SPREAD,))
        meetings = self._interacting[scheduler].items()
        found = {name for name, each in meetings if others[each.on(place)].any()}
        return frozenset(found | {SPREAD} if scheduler.reaches(SPREAD, pod) else found)

    def _are_wide(self, scheduler: SchedulerModel) -> NDArray[np.bool_]:
        """bool[C]: whose pods bear on local pods of `scheduler` on other nodes, whoever places them."""
        if scheduler not in self._wide:
            wide = [scheduler.is_felt_widely(crowd.pod) for crowd in self.crowds]
            self._wide[scheduler] = np.array(wide, dtype=bool)
        return self._wide[scheduler]

    def found(self, query: PodQuery) -> Places:
        """The places of the crowds that `query` finds."""
        return self._gathered.found(query)

    def is_admitted_last(self, place: int) -> bool:
        """Whether the quotas admit the pod once all others are there, wherever that is, as they do while none is."""
        if self._refused_last is None:
            self._refused_last = set(self._find_refused_last())
        return place not in self._refused_last

    def _find_refused_last(self) -> Iterator[int]:
        with self.cluster.what_if():
            for crowd in self.crowds:
                for _ in range(crowd.number):
                    self.cluster.add(crowd.pod, _ANY_NODE)
            for place, crowd in enumerate(self.crowds):
                if crowd.single is None:
                    continue
                with self.cluster.what_if():
                    self.cluster.remove(crowd.pod, _ANY_NODE)
                    refusals = crowd.scheduler.evaluate(crowd.pod).refusals
                    if any(obstacle.plugin in crowd.scheduler.quotas for obstacle in refusals):
                        yield place


def _distinct(masks: Sequence[BoolMask]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """bool[M, N], the different ones of `masks`, and intp[C], the row of each."""
    rows: dict[bytes, int] = {}
    different: list[BoolMask] = []
    places = []
    for mask in masks:
        place = rows.setdefault(mask.tobytes(), len(different))
        if place == len(different):
            different.append(mask)
        places.append(place)
    return np.array(different, dtype=bool), np.array(places, dtype=np.intp)


class _Proof:
    """For one pod of the crowd at `place`, beside all others of `arrays`."""

    def __init__(self, crowd: Crowd, single: SingleLanding, place: int, arrays: _Arrays) -> None:
        self._crowd, self._single, self._place, self._arrays = crowd, single, place, arrays
        self._beside = arrays.beside(place)

    def holds(self) -> bool:
        """Whether a node is left for the pod whatever the others do."""
        single = self._single
        interacting = self._arrays.interacting(self._place) if single.feasible.any() else None
        quotas = self._crowd.scheduler.quotas
        if interacting is None or not interacting <= {SPREAD, *quotas}:
            return False
        if interacting & quotas and not self._arrays.is_admitted_last(self._place):
            return False
        if SPREAD in interacting:
            return self._holds_spread(single.beside_spread)
        return self._stays_open(single.feasible)

    def _stays_open(self, nodes: BoolMask) -> bool:
        """Whether the others cannot close all of `nodes`: each of them closes one at most."""
        if self._single.credit or len(self._arrays.closing(self._place)) or (nodes & ~self._crowd.may).any():
            return self._is_left_open(nodes)
        # Beside it there is the same for each pod that requests the same.
        known, key = self._arrays.stays_open, (nodes.tobytes(), tuple(self._crowd.amounts.items()))
        if key not in known:
            known[key] = self._is_left_open(nodes)
        return known[key]

    def _is_left_open(self, nodes: BoolMask) -> bool:
        num_nodes = int(nodes.sum())
        if int(self._beside.sum()) < num_nodes:
            return True
        if not self._closable(nodes).all():
            return True
        others = np.where(self._arrays.reach(nodes), self._beside, 0)
        num_left = num_nodes - int(others[self._arrays.closing(self._place)].sum())
        return int(others.sum()) < num_nodes or (num_left > 0 and self._fill_fewer(num_left, nodes, others))

    def _closable(self, nodes: BoolMask) -> NDArray[np.bool_]:
        """bool[n]: which of `nodes` have no room for the pod beside all that may come there."""
        closing = self._arrays.closing(self._place)
        beside = closing[self._beside[closing] > 0]
        is_closable = self._arrays.may(beside)[nodes]
        for row in self._crowd.amounts:
            is_closable |= self._arrays.coming(row, self._place)[nodes] > self._beside_pod(row, nodes)
        return is_closable

    def _beside_pod(self, row: int, nodes: BoolMask) -> NDArray[np.int64]:
        """What is left of a resource on `nodes` once the pod is there."""
        room = _room(self._arrays.cluster.table, row, self._single)
        left: NDArray[np.int64] = room[nodes] - self._crowd.amounts[row]
        return left

    def _fill_fewer(self, most: int, nodes: BoolMask, others: NDArray[np.int64]) -> bool:
        """Whether so many others can fill fewer than `most` of `nodes`, so that what the pod requests has no room."""
        num_others = int(others.sum())
        num_pods = np.full(int(nodes.sum()), num_others + 1)
        by_resource = []
        for row in self._crowd.amounts:
            sizes, places = self._arrays.sizes(row)
            numbers = _sums(others, places, len(sizes))
            in_all = np.cumsum(sizes * numbers)
            if in_all[-1]:
                beside = self._beside_pod(row, nodes).astype(np.float64)
                by_resource.append((beside + 1, float(in_all[-1])))
                is_filled = beside < in_all[-1]
                needed = _num_needed(beside[is_filled], sizes, numbers, in_all)
                num_pods[is_filled] = np.minimum(num_pods[is_filled], needed)
        if np.partition(num_pods, most - 1)[:most].sum() > num_others:
            return True
        return sum(_num_affordable(costs, budget) for costs, budget in by_resource) < most

    def _holds_spread(self, nodes: BoolMask) -> bool:
        """Whether one of `nodes` is left, which all plugins but PodTopologySpread let the pod have."""
        constraints = self._crowd.scheduler.spread(self._crowd.pod)
        if len(constraints) != 1 or self._single.sees_more:
            return False
        (constraint,) = constraints
        if constraint.counted.num < constraint.min_domains:
            return False  # then domains are compared with one that has no pods, and do not help each other
        never_closed = self._never_closed(constraint, nodes)
        if set(constraint.counted.there.tolist()) <= set(never_closed):
            return True  # the one with the fewest pods is open
        return self._num_until_uneven(constraint, never_closed) > self._num_counting(constraint, nodes)

    def _never_closed(self, constraint: SpreadConstraint, nodes: BoolMask) -> list[int]:
        """The domains of which the others cannot close all of `nodes`."""
        domains = constraint.counted.domains.ids
        reached = nodes & (domains < constraint.counted.domains.num)
        of_nodes = domains[reached]
        is_open = set(of_nodes[~self._closable(reached)].tolist())
        found, numbers = np.unique(of_nodes, return_counts=True)
        # A domain of one node is closed where that can be closed.
        in_doubt = (each for each in found[numbers > 1].tolist() if each not in is_open)
        return sorted(is_open.union(each for each in in_doubt if self._stays_open(reached & (domains == each))))

    def _num_until_uneven(self, constraint: SpreadConstraint, domains: Sequence[int]) -> int:
        """How many pods have to come before the constraint closes all of `domains`, though none comes to the others."""
        sums = constraint.counted.sums(self._arrays.cluster.follow(PodCounts).found(constraint.query))
        most = constraint.counted.least(sums) + constraint.max_skew - constraint.is_self_matching
        return int(np.maximum(0, most + 1 - sums[domains]).sum())

    def _num_counting(self, constraint: SpreadConstraint, nodes: BoolMask) -> int:
        """How many of the others that may come to `nodes` the constraint counts."""
        counting = self._arrays.found(constraint.query)
        return int(np.where(self._arrays.reach(nodes), self._beside, 0)[counting].sum())


def _sums(amounts: NDArray[np.int64], places: NDArray[np.intp], number: int) -> NDArray[np.float64]:
    """float64[number]: the sum of the amounts at each of the places."""
    return np.bincount(places, weights=amounts, minlength=number).astype(np.float64, copy=False)


def _num_needed(
    beside: NDArray[np.float64], sizes: NDArray[np.int64], numbers: NDArray[np.float64], in_all: NDArray[np.float64]
) -> NDArray[np.int64]:
    """How many pods it takes, the largest first, to request more than `beside`, which is less than all of them do.

    There are `numbers` of each of the `sizes`, and `in_all` sums up what they request.
    """
    last = np.searchsorted(in_all, beside, side="right")
    before = np.cumsum(numbers) - numbers
    of_last = np.maximum(0, beside - (in_all - sizes * numbers)[last]) // sizes[last]
    return (before[last] + of_last).astype(np.int64) + 1


def _num_affordable(costs: NDArray[np.float64], budget: float) -> int:
    """How many of `costs` the budget pays for at most."""
    return int(np.count_nonzero(np.cumsum(np.sort(costs)) <= budget))


def _room(table: NodeTable, row: int, single: SingleLanding) -> NDArray[np.int64]:
    """What a class may use of a resource on each node: what is free, and what plugins grant it on top."""
    free: NDArray[np.int64] = table.allocatable[row] - table.requested[row]
    return free + single.credit[row] if row in single.credit else free
