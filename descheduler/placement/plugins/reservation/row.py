"""What runs as `Reservation`."""

from __future__ import annotations

from descheduler.model.koordinator.reservation import (
    RESERVATION_NAME_ANNOTATION,
    RESERVATION_NODE_ANNOTATION,
    RESERVE_POD_ANNOTATION,
)
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.reservation.explain import explain_reservations
from descheduler.placement.plugins.reservation.marks import marks_of
from descheduler.placement.plugins.reservation.plugin import ReservationPlugin, ReservationReason
from descheduler.placement.plugins.reservation.pod_protocol import AFFINITY_ANNOTATION, EXACT_MATCH_ANNOTATION
from descheduler.placement.plugins.reservation.score import ReservationScore

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=ReservationPlugin,
    score=ReservationScore,
    points=frozenset({"pre_filter", "filter", "post_filter", "pre_score", "score", "reserve", "pre_bind", "bind"}),
    marks=marks_of,
    explain=explain_reservations,
    reads_annotations=(
        AFFINITY_ANNOTATION,
        EXACT_MATCH_ANNOTATION,
        RESERVE_POD_ANNOTATION,
        RESERVATION_NAME_ANNOTATION,
        RESERVATION_NODE_ANNOTATION,
    ),
    reads_kinds=frozenset({"Reservation.scheduling.koordinator.sh"}),
    about=About(
        check="Room that a Reservation holds is free for its owners only; a pod that asks for a Reservation needs one.",
        preference="Nodes with a Reservation of the pod: the lowest reservation-order, then the fullest.",
        reasons=(
            *(reason.reason for reason in ReservationReason),
            "Insufficient <resource> by node",
            "Reservation(s) Insufficient <resource>",
            "Reservation(s) Too many pods",
        ),
    ),
)
