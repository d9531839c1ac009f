"""What tells pods apart that are alike but for who they are: Reservations may be for one pod, or one controller."""

from __future__ import annotations

from collections.abc import Hashable

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.shadow.placement_class import Mark

__all__ = ["marks_of"]


def marks_of(snapshot: Snapshot) -> Mark | None:
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
