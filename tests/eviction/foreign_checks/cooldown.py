"""Cooldown: a workload that lost a pod a short while ago, in this run or before, keeps the others for now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from descheduler.eviction.checks.table import CheckContext
from descheduler.eviction.request_check import PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move

MOVED_AT = "example.com/moved-at"
"""An annotation: when the pod's predecessor was moved."""
COOLDOWN = timedelta(minutes=10)


class Cooldown(PodByPod):
    """Lets every workload give one pod a run, and none until `COOLDOWN` after that."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._moved: Counter[str] = Counter()

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod's workload has rested long enough."""
        del bundle
        pod = candidate.pod
        moved_at = pod.annotations.get(MOVED_AT)
        is_warm = moved_at is not None and self._now - datetime.fromisoformat(moved_at) < COOLDOWN
        if is_warm or self._moved[_workload(pod)]:
            return refuse(Reason.MIGRATING_LIMIT, f"{_workload(pod)} moved a short while ago", _workload(pod))
        return ACCEPTED

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Notes that the workload moves."""
        del bundle
        return self._note(candidate.pod)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Notes what earlier rounds have moved."""
        for move in moves:
            self._note(move.pod)

    def _note(self, pod: Pod) -> Undo:
        workload = _workload(pod)
        if not workload:
            return NOTHING_DONE
        self._moved[workload] += 1
        return lambda: self._moved.subtract([workload])


def _workload(pod: Pod) -> str:
    return "" if pod.controller is None else f"{pod.controller.kind} {pod.controller.name}"


def row(run: CheckContext) -> Cooldown:
    """The row of the table."""
    return Cooldown(run.handle.now)
