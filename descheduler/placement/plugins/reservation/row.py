"""What runs as `Reservation`."""

from __future__ import annotations

import msgspec

from descheduler.model.koordinator.reservation import (
    RESERVATION_NAME_ANNOTATION,
    RESERVATION_NODE_ANNOTATION,
    RESERVE_POD_ANNOTATION,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.reservation.explain import explain_held_room, explain_reservations
from descheduler.placement.plugins.reservation.marks import marks_of
from descheduler.placement.plugins.reservation.plugin import ReservationPlugin, ReservationReason
from descheduler.placement.plugins.reservation.pod_protocol import AFFINITY_ANNOTATION, EXACT_MATCH_ANNOTATION
from descheduler.placement.plugins.reservation.queue import waiting_reserve_pods
from descheduler.placement.plugins.reservation.score import ReservationScore
from descheduler.placement.plugins.reservation.unmodelled import OPERATING_OWNERS_ANNOTATION
from descheduler.policy.shared_args import Args, WithoutEffect

__all__ = ["ROW"]


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
    """What of the arguments decides."""

    enable_preemption: bool = False


def _read(block: ArgsBlock, section: ReservationSection) -> ReservationArgs | None:
    if not section.enable_preemption:
        return None
    block.warn(("enablePreemption",), "preemption by Reservations is not modelled: every landing is `likely` at best")
    return ReservationArgs(enable_preemption=True)


def _doubt_of_preemption(profile: SchedulerProfile) -> str:
    is_preempting = profile.args.of(ReservationArgs).enable_preemption
    return "preemption by Reservations is not modelled" if is_preempting else ""


ROW = SchedulingPlugin(
    plugin=ReservationPlugin,
    score=ReservationScore,
    points=frozenset({"pre_filter", "filter", "post_filter", "pre_score", "score", "reserve", "pre_bind", "bind"}),
    args=ArgsKind(ReservationSection, _read, ReservationArgs),
    doubt=_doubt_of_preemption,
    marks=marks_of,
    queues=waiting_reserve_pods,
    explain=explain_reservations,
    explain_shortage=explain_held_room,
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
