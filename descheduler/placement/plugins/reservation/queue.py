"""Reservations that wait for a node."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod

__all__ = ["waiting_reserve_pods"]


def waiting_reserve_pods(snapshot: Snapshot) -> Iterator[Pod]:
    """The reserve pods that koord-scheduler has in its queue.

    One that is bound to where pods still run (`preAllocation`) is left out, as is one without owners, which fails.
    """
    for reservation in snapshot.reservations:
        is_queued = reservation.is_pending and not reservation.pre_allocation and not reservation.is_terminating
        if is_queued and reservation.owners and reservation.pod is not None:
            yield reservation.pod
