"""What runs as `Reservation`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from collections.abc import Set as AbstractSet

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.reservation import (
    RESERVATION_NAME_ANNOTATION,
    RESERVATION_NODE_ANNOTATION,
    RESERVE_POD_ANNOTATION,
)
from descheduler.model.pod import Pod
from descheduler.model.text.amounts import amounts_text
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.reservation.fit import OPERATING_OWNERS_ANNOTATION, score
from descheduler.placement.plugins.reservation.holdings import Holdings
from descheduler.placement.plugins.reservation.ledgers import RESERVATION, CycleState, state_of
from descheduler.placement.plugins.reservation.plugin import ReservationPlugin, ReservationReason
from descheduler.placement.plugins.reservation.pod_protocol import (
    AFFINITY_ANNOTATION,
    EXACT_MATCH_ANNOTATION,
    OwnerMatch,
)
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import Mark
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args, WithoutEffect

_HIGHEST = 100
_PREFERRED = 1000


class _ReservationScore:
    """The node with the Reservation of the lowest order comes before all others, whether or not the pod fits into it;
    then it is by how full the nominated Reservation is with the pod in it."""

    name = RESERVATION

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del cluster, profile

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """0 to 100 of the highest of the feasible nodes."""
        state = state_of(cycle)
        if state is None or not state.usable or state.request.is_ignoring:
            return None
        raw = _raw(cycle, state, feasible)
        highest = int(raw.max(initial=0))
        return Scores(raw * _HIGHEST // highest if highest else raw, lambda: raw)


class ReservationSection(Args, frozen=True):
    """`ReservationArgs` of koord-scheduler 1.8."""

    enable_preemption: bool = False
    """Whether Reservations and their owners preempt pods of lower priority; not modelled."""
    min_candidate_nodes_percentage: WithoutEffect[int | None] = None
    min_candidate_nodes_absolute: WithoutEffect[int | None] = None
    controller_workers: WithoutEffect[int | None] = None
    gc_duration_seconds: WithoutEffect[int | None] = None
    gc_interval_seconds: WithoutEffect[int | None] = None
    resync_interval_seconds: WithoutEffect[int | None] = None
    disable_garbage_collection: WithoutEffect[bool] = False


class ReservationArgs(msgspec.Struct, frozen=True):
    """The arguments that decide."""

    enable_preemption: bool = False


def _read(block: ArgsBlock, section: ReservationSection) -> ReservationArgs | None:
    if not section.enable_preemption:
        return None
    block.warn(("enablePreemption",), "preemption by Reservations is not modelled: every landing is `likely` at best")
    return ReservationArgs(enable_preemption=True)


def _doubt_of_preemption(profile: SchedulerProfile) -> str:
    is_preempting = profile.args.of(ReservationArgs).enable_preemption
    return "preemption by Reservations is not modelled" if is_preempting else ""


def explain_reservations(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What came of each Reservation on the node."""
    state = state_of(refused.cycle)
    for held, found in () if state is None else state.matches:
        if held.node == refused.node_index:
            yield f"Reservation {held.name} {_words(found)}"


def _explain_held_room(refused: RefusedNode, short: AbstractSet[str]) -> Iterator[str]:
    """What the Reservations on the node that the pod may not use hold, of those that hold any resource of `short`."""
    state, table = state_of(refused.cycle), refused.cycle.cluster.table
    usable = [] if state is None else [held for held, found in state.matches if found.gives_room]
    for held in refused.cycle.cluster.follow(Holdings).held:
        gaps = [(table.resources[row], amount) for row, amount in held.gaps() if amount > 0]
        is_here = held.is_active and held.node == refused.node_index and held not in usable
        if is_here and any(resource in short for resource, _ in gaps):
            yield f"Reservation {held.name} holds {amounts_text(gaps)} for its owners"


def _words(found: OwnerMatch) -> str:
    return "matches the pod and has too little left" if found.gives_room else found.value


def _marks_of(snapshot: Snapshot) -> Mark | None:
    """The names and uids of a pod, and those of its owners, by which Reservations of `snapshot` tell their owners."""
    names, uids = set[str](), set[str]()
    for reservation in snapshot.reservations:
        for owner in reservation.owners:
            for named in (owner.object, owner.controller):
                if named is not None:
                    names.add(named.name)
                    uids.add(named.uid)
    names.discard("")
    uids.discard("")
    if not names and not uids:
        return None

    def mark(pod: Pod) -> Hashable:
        own = pod.name if pod.name in names else "", pod.uid if pod.uid in uids else ""
        owners = tuple([each for each in pod.owners if each.uid in uids or each.name in names])
        return (own, owners) if owners or any(own) else None

    return mark


def _waiting_reserve_pods(snapshot: Snapshot) -> Iterator[Pod]:
    """The reserve pods that koord-scheduler has in its queue.

    One that is bound to where pods still run (`preAllocation`) is left out, as is one without owners, which fails.
    """
    for reservation in snapshot.reservations:
        is_queued = reservation.is_pending and not reservation.pre_allocation and not reservation.is_terminating
        if is_queued and reservation.owners and reservation.pod is not None:
            yield reservation.pod


def _raw(cycle: Cycle, state: CycleState, feasible: BoolMask) -> NDArray[np.int64]:
    raw = np.zeros(len(feasible), dtype=np.int64)
    for node, nominees in state.nominated.items():
        if feasible[node]:
            raw[node] = score(cycle.pod.demand.amounts, nominees[0])
    orders = [
        (held.order, node) for node, usable in state.usable.items() if feasible[node] for held in usable if held.order
    ]
    if orders:
        raw[min(orders)[1]] = _PREFERRED
    return raw


ROW = SchedulingPlugin(
    plugin=ReservationPlugin,
    score=_ReservationScore,
    points=frozenset({"pre_filter", "filter", "post_filter", "pre_score", "score", "reserve", "pre_bind", "bind"}),
    args=ArgsKind(ReservationSection, _read, ReservationArgs),
    doubt=_doubt_of_preemption,
    marks=_marks_of,
    queues=_waiting_reserve_pods,
    explain=explain_reservations,
    explain_shortage=_explain_held_room,
    reads_annotations=(
        AFFINITY_ANNOTATION,
        EXACT_MATCH_ANNOTATION,
        RESERVE_POD_ANNOTATION,
        RESERVATION_NAME_ANNOTATION,
        RESERVATION_NODE_ANNOTATION,
        OPERATING_OWNERS_ANNOTATION,
    ),
    reads_kinds=frozenset({"Reservation.scheduling.koordinator.sh"}),
    about=About(
        check="Room that a Reservation holds is free for its owners only; required affinity needs one.",
        preference="Nodes with a Reservation of the pod: the lowest reservation-order, then the fullest.",
        reasons=(
            *(reason.reason for reason in ReservationReason),
            "Insufficient <resource> by node",
            "Reservation(s) Insufficient <resource>",
            "Reservation(s) Too many pods",
        ),
    ),
)
