"""The score of Reservation (koordinator 1.8 `scoring.go`): nodes where the pod fills a Reservation up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.plugins.reservation.cycle_state import RESERVATION, CycleState, state_of
from descheduler.placement.plugins.reservation.fit import score
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["ReservationScore"]

_HIGHEST = 100
_PREFERRED = 1000


class ReservationScore:
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
