"""Reservations that are for a pod and that its scheduler, as it is configured, never marks as used."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.placement.framework.evaluation import Evaluation
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.plugins.reservation.cycle_state import RESERVATION, state_of

__all__ = ["unused_reservations"]

_MOST_NAMED = 3


def unused_reservations(evaluation: Evaluation, scheduler: SchedulerModel) -> Iterator[str]:
    """A sentence for the first Reservations whose room the pod gets and that stay unused, by name."""
    state = state_of(evaluation.cycle)
    if state is None or scheduler.runs(RESERVATION, "reserves"):
        return
    names = evaluation.cycle.cluster.table.names
    held = sorted(
        (state.nominated[node][0].name, names[node]) for node in evaluation.nodes.tolist() if node in state.nominated
    )
    for name, node in held[:_MOST_NAMED]:
        yield (
            f"its Reservation {name} holds room on {node}, but the configuration of {scheduler.name} does not "
            "enable Reservation under reserve, so the Reservation stays unused"
        )
