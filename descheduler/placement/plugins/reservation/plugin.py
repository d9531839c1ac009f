"""The plugin: which Reservations hold room that a pod may use, which hold it against the pod, and which one it uses.

koord-scheduler counts every active Reservation as a pod on its node, with the labels, ports and terms of its template,
and takes those away that the pod may use before any plugin looks (koordinator 1.8 `transformer.go`). No other
scheduler knows of them, so they are no pods of the shadow cluster: a cycle sees those that are not the pod's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.reservation import RESERVATION_NODE_ANNOTATION, allocated_text, is_reserve_pod
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import GatheredPods, Interactions, Meeting, OnOwnNode
from descheduler.placement.framework.matched_reservations import (
    MatchedReservation,
    NomineePlugin,
    nominate_reservation,
    nominee_plugins,
    restore_reservations,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason, Said
from descheduler.placement.plugins.reservation.fit import OperatingPods, fit_on_node, pre_allocations
from descheduler.placement.plugins.reservation.holdings import HeldReservation, Holdings
from descheduler.placement.plugins.reservation.ledgers import (
    RESERVATION,
    CycleState,
    OwnerLedger,
    ReservePodLedger,
    state_of,
)
from descheduler.placement.plugins.reservation.pod_protocol import AFFINITY_ANNOTATION, request_of
from descheduler.placement.plugins.reservation.sights import Sights
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster, Takings, taken_from

_OVERCOMMITTED = (
    "owners of a Reservation on {} have more than it reserves, so that the kubelet refuses the pod there until others"
    " are gone"
)


class _ReservationInteractions(OnOwnNode):
    """A Reservation for a single pod is gone once that pod is placed, and what it leaves over is free for others.

    One that waits for a node may come to hold room for a pod that needs it. All this is felt on one node only: that of
    the Reservation. `holdings` is None where there are none.
    """

    def __init__(self, holdings: Holdings | None) -> None:
        held = () if holdings is None else holdings.held
        # What the snapshot has counts, for this is asked about pods that wait while others are placed.
        self._owners = [owner for each in held for owner in each.reservation.owners]
        self._is_one_used_up = any(each.is_used_once and not each.is_spent for each in held)
        self._is_one_waiting = any(each.reservation.is_pending for each in held)

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether any Reservation may be used up by one pod, or one be bound that `pod` could ask for."""
        return self._is_one_used_up or (self._is_one_waiting and AFFINITY_ANNOTATION in pod.annotations)

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All, to those that may use a Reservation, or need one, of which each may take more than it requests."""
        yield np.arange(len(gathered.pods)), gathered.where(self._may_use_one)

    def _may_use_one(self, pod: Pod) -> bool:
        return AFFINITY_ANNOTATION in pod.annotations or any(owner.matches(pod) for owner in self._owners)


class ReservationReason(ObstacleReason):
    """Why a node takes no pod; amounts are facts of their own."""

    NO_MATCH = 1, "node(s) no reservations match reservation affinity", "no Reservation matches reservation-affinity"
    AMOUNTS = 2, "node(s) no reservation(s) to meet the requirements"
    POLICY = (
        4,
        "node(s) reservation allocate policy conflict",
        "Reservations of another allocatePolicy on the node",
    )
    NODE_NAME = (
        8,
        "node(s) didn't match the nodeName specified by reservation",
        "didn't match spec.template.spec.nodeName of the Reservation",
    )


class UnreadableReservation(ObstacleReason):
    """Why a pod is refused everywhere."""

    ANNOTATIONS = 0, "the Reservation annotations of the pod cannot be read"


_OF_OPERATING_PODS = "pods that act as Reservations are not modelled"
_OPERATING = Said.alike(_OF_OPERATING_PODS)


class ReservationPlugin:
    """Transformer, filter and ledger of one profile."""

    name = RESERVATION
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self.ledger = cluster.ledger(OwnerLedger)
        self._holdings = self.ledger.holdings
        self.interactions: Interactions = _ReservationInteractions(self._holdings)
        """Placed pods use Reservations up, which helps others."""
        self._keeper = cluster.ledger(ReservePodLedger)
        self._table = cluster.table
        self._operating = OperatingPods(cluster)
        self._sights = None if self._holdings is None else Sights(self._holdings, cluster.table)

    @property
    def num_changes(self) -> int:
        """The number of changes of Reservations."""
        return 0 if self._holdings is None else len(self._holdings.changes)

    def before_pre_filter(self, cycle: Cycle) -> None:
        """Shows the pod the Reservations that hold room against it."""
        pod = cycle.pod.pod
        request = request_of(pod)
        if self._holdings is None or self._sights is None:
            if request.affinity is not None:
                cycle.scratch[RESERVATION] = CycleState(request)
        elif is_reserve_pod(pod):
            cycle.scratch[RESERVATION] = CycleState(request, own=self._holdings.waiting(pod.name))
            cycle.keeper = self._keeper
            self._sights.stand_ins.keep_up()
            cycle.seen = self._sights.stand_ins.all
        else:
            sight = self._sights.of(cycle.pod, request)
            cycle.scratch[RESERVATION] = CycleState(request, sight.matches, sight.usable, restored=sight.restored)
            cycle.seen = sight.seen
            restore_reservations(cycle, sight.matched)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone for which there is no Reservation, and which need none."""
        if self._operating.concern(cycle.pod.pod):
            return PreFilterResult(Obstacle.of(self.name, Code.UNDECIDED, _OPERATING))
        state = state_of(cycle)
        if state is None:
            return SKIP
        if state.request.fault:
            return PreFilterResult(Obstacle.of(self.name, Code.UNRESOLVABLE, UnreadableReservation.ANNOTATIONS))
        if state.request.affinity is not None and not state.usable and not self._may_come():
            return PreFilterResult(Obstacle.of(self.name, Code.UNRESOLVABLE, ReservationReason.NO_MATCH))
        is_concerned = state.usable or state.request.affinity is not None or cycle.keeper is not None
        return PASS if is_concerned else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes without a Reservation that the pod needs, or without room beside those that it may use."""
        state = state_of(cycle)
        if state is None:
            return None
        bits: ReasonBits = np.zeros(len(self._table), dtype=np.uint32)
        if cycle.keeper is not None:
            return self._against_reserve_pod(cycle.pod.pod, state, bits)
        is_required = state.request.affinity is not None
        if is_required:
            bits[:] = ReservationReason.NO_MATCH.bit
            bits[list(state.usable)] = 0
        if not state.request.is_ignoring:
            plugins, asked = nominee_plugins(cycle), cycle.pod.demand.amounts
            for node, usable in state.usable.items():
                others = _Others(cycle, node, state.restored, plugins)
                fit = fit_on_node(asked, usable, node, self._table, others, is_required=is_required)
                if fit.nominees:
                    state.nominated[node] = fit.nominees
                    nominate_reservation(cycle, node, state.restored[fit.nominees[0]])
                elif fit.against:
                    state.short[node] = fit.against
                    bits[node] |= ReservationReason.AMOUNTS.bit
        return bits

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words; a shortage may pass, all else stays as it is as long as no Reservation comes or goes."""
        state = state_of(cycle)
        if bits & ReservationReason.AMOUNTS.bit and state is not None:
            return Obstacle.of(self.name, Code.UNSCHEDULABLE, *state.short[node])
        return Obstacle.of(self.name, Code.UNRESOLVABLE, *(each for each in ReservationReason if bits & each.bit))

    def patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The Reservation that the pod uses."""
        taken = taken_from(takings, self.ledger)
        if taken is None:
            return {}
        reservation = taken.held.reservation
        return {RESERVATION_ALLOCATED_ANNOTATION: allocated_text(reservation.name, reservation.uid)}

    def before_start(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """That the kubelet refuses the pod where owners of a Reservation have more than it reserves, and that no
        Reservation comes first which takes the room of other pods.

        koord-scheduler takes all that owners have off what it counts, for pods that may not use the Reservation.
        """
        if self._holdings is None or cycle.keeper is not None:
            return ()
        table = self._table
        asked, name = cycle.pod.demand.amounts, table.names[node]
        fits = all(table.requested[row, node] + amount <= table.allocatable[row, node] for row, amount in asked)
        overcommitted = () if fits or not cycle.seen else (_OVERCOMMITTED.format(name),)
        state = state_of(cycle)
        usable = () if state is None else state.usable.get(node, ())
        there = (each for each in self._holdings.pre_allocating if self._selects(each, node))
        return (*overcommitted, *pre_allocations(there, usable, node, name))

    def _selects(self, held: HeldReservation, node: int) -> bool:
        """Whether the terms of the reserve pod do."""
        spec = held.pod.spec
        return bool(self._table.masks.selected(spec.node_selector, spec.affinity)[node])

    def _may_come(self) -> bool:
        """Whether a Reservation waits for a node, which the pod may then ask for."""
        return self._holdings is not None and self._holdings.is_one_waiting

    def _against_reserve_pod(self, pod: Pod, state: CycleState, bits: ReasonBits) -> ReasonBits:
        """Nodes that a Reservation does not name, or whose Reservations have another policy, if either has none."""
        wanted = pod.annotations.get(RESERVATION_NODE_ANNOTATION)
        if wanted:
            bits |= np.uint32(ReservationReason.NODE_NAME.bit)
            node = self._table.index.get(wanted, NO_NODE)
            if node != NO_NODE:
                bits[node] = 0
        if self._sights is not None:
            policy = "" if state.own is None else state.own.reservation.allocate_policy
            bits[self._sights.stand_ins.against(policy)] |= np.uint32(ReservationReason.POLICY.bit)
        return bits


class _Others(NamedTuple):
    """The other plugins of the scheduler, about one node."""

    cycle: Cycle
    node: int
    restored: Mapping[HeldReservation, MatchedReservation]
    plugins: Sequence[NomineePlugin]

    def allow(self, held: HeldReservation) -> bool:
        """Whether none objects."""
        known = self.restored[held]
        return all(each.filter_reservation(self.cycle, self.node, known) for each in self.plugins)

    def scores(self, held: Sequence[HeldReservation]) -> Sequence[int]:
        """Their sums."""
        known = [self.restored[each] for each in held]
        given = [plugin.score_reservations(self.cycle, self.node, known) for plugin in self.plugins]
        return [sum(scores) for scores in zip(*given, strict=True)] or [0] * len(held)
