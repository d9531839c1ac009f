"""What a planner asks of the cluster before it has chosen: amounts as arrays, and the nodes that are open to a pod.

These are answers about single moves in the cluster as it is. Whether moves land one after the other is the prover's to
say, of each, when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.node_parts import NodeParts
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.landings.candidates import CandidateMaker
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs, SpreadConstraints
from descheduler.placement.shadow.node_table import PODS_ROW
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster


class _EarlyRoom(msgspec.Struct, eq=False):
    """What `placed` takes on the node of this index is held for the replacement of `victim`, which still runs."""

    victim: Pod
    node: int
    placed: Placed | None = None


class EarlyRooms:
    """One room at most for the replacement of each victim.

    A ledger of its own, so that a what-if that takes room back, or holds it, is followed here.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._rooms: dict[int, _EarlyRoom] = {}
        self._victim: Pod
        """For whom `hold` holds room; `reserve` is not told."""

    def hold(self, unplaced: UnplacedReplacement, node_name: str) -> None:
        """Holds room for a replacement on this node, if the node takes it as the cluster is now.

        A victim has one room: the first one stays.
        """
        if id(unplaced.victim) in self._rooms:
            return
        node, evaluation = self._cluster.table.index.get(node_name), unplaced.evaluate()
        if node is None or evaluation.undecided or not evaluation.feasible[node]:
            return
        self._victim = unplaced.victim
        placed = put_on_node(evaluation, node, ledgers=(self,)).placed
        self._rooms[id(unplaced.victim)].placed = placed

    def give_up(self, victim: Pod) -> None:
        """Gives back what is held for the replacement of `victim`, if anything: it is placed itself now."""
        room = self._rooms.get(id(victim))
        if room is not None and room.placed is not None:
            self._cluster.take_off(room.placed)

    def reserve(self, cycle: Cycle, node: int) -> _EarlyRoom:
        """Notes that room is held for the victim that was named last."""
        room = _EarlyRoom(self._victim, node)
        self.restore(room)
        return room

    def release(self, taken: _EarlyRoom) -> None:
        del self._rooms[id(taken.victim)]

    def restore(self, taken: _EarlyRoom) -> None:
        self._rooms[id(taken.victim)] = taken

    def fingerprint(self) -> Any:
        return sorted((room.victim.key, room.victim.uid, room.node) for room in self._rooms.values())


_AMOUNTS = frozenset({Compares.REQUESTS})
"""These follow from the amounts, and change with every move."""
_HARD = "DoNotSchedule"
_ROOM = frozenset(Compares) - {Compares.SPREAD}
"""These change with moves that make room on a node."""


class OpenNodes(NamedTuple):
    """bool[N] each: the nodes that would take a pod `now`, and those that may `ever` do so.

    The latter are all that nothing closes for good. What closes the others now is which pods are where, such as their
    host ports, affinity and anti-affinity, or that a quota is used up, which moves of these pods may change.
    """

    now: NDArray[np.bool_]
    ever: NDArray[np.bool_]


class Openings:
    """Answers over `cluster`, valid until that changes; N nodes in the order of `nodes`, R resources of `resources`.

    Amounts are in the units of the node table: cpu in milli, everything else in whole units.
    """

    def __init__(
        self, cluster: ShadowCluster, candidates: CandidateMaker, parts: Callable[[ShadowCluster], NodeParts]
    ) -> None:
        self._parts = parts
        self._cluster = cluster
        self._candidates = candidates
        self._open: dict[tuple[PlacementClass, frozenset[Compares], tuple[Pod, ...]], OpenNodes | None] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self._cluster.table.names

    def place_of(self, node: str) -> int:
        """The index of a node among `nodes`. Raises KeyError."""
        return self._cluster.table.index[node]

    @property
    def resources(self) -> tuple[str, ...]:
        """The names of the resources, one of which is the number of pods."""
        return self._cluster.table.resources

    @property
    def capacity(self) -> NDArray[np.int64]:
        """int64[R, N]: allocatable."""
        return self._cluster.table.allocatable

    @property
    def taken(self) -> NDArray[np.int64]:
        """int64[R, N]: what pods, and whatever else holds room, have taken."""
        return self._cluster.table.requested

    def need(self, spec: PodSpec) -> NDArray[np.int64]:
        """int64[R]: what a pod of this spec, or its replacement, takes on its node."""
        incoming = self._cluster.demands.incoming(spec).amounts  # first: resources that nothing had get their rows
        amounts = np.zeros(len(self.resources), dtype=np.int64)
        amounts[PODS_ROW] = 1
        for row, amount in incoming:
            amounts[row] = amount
        return amounts

    def needs_of_replacement(self, victim: Pod) -> Sequence[NDArray[np.int64]]:
        """int64[R] for each size that the replacement of `victim` may have: one, or two where admission decides.

        The pod's own where none is scheduled for it.
        """
        return self._needs(self.sizes_after(victim))

    def sizes_after(self, victim: Pod) -> Sequence[Pod]:
        """What may be scheduled for `victim` once it is evicted: its replacement, and the same with the other size that
        admission may give it; `victim` itself where there is none."""
        unplaced = self._candidates.candidate(victim, {}).unplaced
        if unplaced is None:
            return (victim,)
        sizes = (unplaced.replacement.pod, unplaced.replacement.alternative)
        return [each for each in sizes if each is not None] or (victim,)

    def _needs(self, pods: Sequence[Pod]) -> Sequence[NDArray[np.int64]]:
        for pod in pods:
            self.need(pod.spec)  # so that all are of one length
        return [self.need(pod.spec) for pod in pods]

    def are_other_sizes(self, victim: Pod, sizes: Sequence[Pod]) -> bool:
        """Whether one of `sizes` requests more or less of something than `victim` does."""
        return any(not np.array_equal(need, self.need(victim.spec)) for need in self._needs(sizes))

    @cached_property
    def parts(self) -> NodeParts:
        """What nodes have that pods get one by one, such as GPUs; nodes are numbered as by `place_of`."""
        return self._parts(self._cluster)

    def open_to(
        self,
        victim: Pod,
        counted: Set[Compares] = frozenset(),
        without: tuple[Pod, ...] = (),
        *,
        is_for_itself: bool = False,
    ) -> OpenNodes | None:
        """The nodes that would take the replacement of `victim` if they had the room; do not change them.

        Of everything else they must have enough left now, unless it is `counted` by whoever asks, or once the pods in
        `without` have left, which are the same tuple for all that share them.
        None for a pod that comes back to its node or nowhere, whatever others do, or of which its scheduler's answer is
        not certain. The first pod stands for all that are alike, also where its scheduler refuses it before nodes are
        looked at, so that it is asked about once it has left; not so where `is_for_itself`.
        """
        unplaced = self._candidates.candidate(victim, {}).unplaced
        if unplaced is None or unplaced.doubt or unplaced.own_node:
            return None
        room = _AMOUNTS | counted
        known = unplaced.placement_class, room, without
        if known not in self._open:
            evaluation = None if without else unplaced.evaluate()
            if evaluation is None or evaluation.refusals:  # by its queue, perhaps, which has room for one of the two
                with self._cluster.what_if():
                    for pod in without or (victim,):
                        self._cluster.remove(pod)
                    found = _open_nodes(unplaced.scheduler, unplaced.evaluate(), room)
                if is_for_itself:
                    return found
                self._open[known] = found
            else:
                self._open[known] = _open_nodes(unplaced.scheduler, evaluation, room)
        return self._open[known]

    def holding(self, victim: Pod) -> tuple[Sequence[str], ObstacleCounts | None]:
        """The nodes that take a pod like the replacement of `victim` while that is still there, and what others have
        against it.

        Neither nodes nor obstacles where the replacement comes back to its node or nowhere.
        """
        unplaced = self._candidates.candidate(victim, {}).unplaced
        if unplaced is None or unplaced.own_node:
            return (), None
        evaluation = unplaced.evaluate()
        nodes = [self.nodes[number] for number in np.flatnonzero(evaluation.feasible).tolist()]
        return nodes, unplaced.scheduler.obstacles(evaluation)

    def spread(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints with `DoNotSchedule` that `pod` states and that count it, whatever its scheduler is."""
        try:
            found = self._constraints.of(pod, _HARD) if pod.spec.topology_spread else ()
        except ValueError:  # a selector that cannot be read, for which schedulers look at no node
            return ()
        return [constraint for constraint in found if constraint.query.covers(pod.namespace, pod.labels)]

    def spread_over(self, constraint: SpreadConstraint) -> NDArray[np.int64]:
        """int64[D + 1]: the pods in each domain of its key that count, as the cluster is; the last is of no domain."""
        return constraint.counted.sums(self._cluster.follow(PodCounts).found(constraint.query))

    @cached_property
    def _constraints(self) -> SpreadConstraints:
        return SpreadConstraints(self._cluster, PodTopologySpreadArgs())

    def needs_no_node(self, victim: Pod) -> bool:
        """Whether nothing is created for `victim` once it is evicted, such as where its ReplicaSet has 0 replicas."""
        candidate = self._candidates.candidate(victim, {})
        landing = candidate.landing
        if landing is None or not (candidate.leaves and candidate.is_moved):
            return False
        return landing.verdict is LandingVerdict.LANDS and landing.replacement.pod is None

    def unit_of_pending(self, pod: Pod) -> str:
        """What a pending pod shares with those without which its scheduler does not place it; empty without any."""
        return self._candidates.unit_of_pending(pod)

    def open_to_pending(self, pod: Pod, others: Sequence[Pod] = ()) -> OpenNodes | None:
        """The nodes that may take a pending pod once others have left them; do not change them.

        `others` are further pending pods, with which it may have to be placed together. None for a pod that no room
        helps, or of which its scheduler's answer is not certain.
        """
        scheduler, evaluation = self._candidates.evaluation_of_pending(pod, others)
        return None if evaluation is None else _open_nodes(scheduler, evaluation, _ROOM)

    def refusal_of_pending(self, pod: Pod, others: Sequence[Pod] = ()) -> str:
        """Why its scheduler looks at no node for a pending pod, with `others` as above; empty where it does."""
        _, evaluation = self._candidates.evaluation_of_pending(pod, others)
        return ", ".join(evaluation.refusals[0].short) if evaluation is not None and evaluation.refusals else ""


def _open_nodes(scheduler: SchedulerModel, evaluation: PodEvaluation, room: Set[Compares]) -> OpenNodes | None:
    now = scheduler.open_but_for(evaluation, room)
    if now is not None:
        return OpenNodes(now, evaluation.open_for_good())
    may_change = all(obstacle.code is Code.UNSCHEDULABLE for obstacle in evaluation.refusals)
    if evaluation.cause or not may_change:
        return None
    # No node was looked at: all may be open once it is refused no more.
    return OpenNodes(np.zeros(len(evaluation.feasible), dtype=bool), evaluation.asked())
