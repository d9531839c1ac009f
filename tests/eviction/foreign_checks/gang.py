"""Gang: all pods of a gang move, or none; what a single pod of it cannot do, the bundle of all can."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.checks.table import CheckContext
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle
from descheduler.plan.moves import Move

GANG = "gang"
"""A label: the gang of a pod."""


class Gang:
    """Looks at bundles as a whole."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._members: dict[str, set[str]] = {}
        for pod in snapshot.pods:
            if GANG in pod.labels:
                self._members.setdefault(pod.labels[GANG], set()).add(pod.uid)

    def verdict(self, bundle: Bundle) -> Verdict:
        """Whether no gang is torn apart."""
        leaving = {pod.uid for pod in bundle.pods}
        for gang in sorted({pod.labels[GANG] for pod in bundle.pods if GANG in pod.labels}):
            if not self._members[gang] <= leaving:
                return refuse(Reason.MIGRATING_LIMIT, f"gang {gang} moves whole or not at all", gang)
        return ACCEPTED

    def charge(self, bundle: Bundle) -> Undo:
        """Nothing is counted."""
        del bundle
        return NOTHING_DONE

    def adopt(self, moves: Sequence[Move]) -> None:
        """Who has left is no member any more."""
        for move in moves:
            self._members.get(move.pod.labels.get(GANG, ""), set()).discard(move.pod.uid)


def row(run: CheckContext) -> Gang:
    """The row of the table."""
    return Gang(run.handle.view.snapshot)
