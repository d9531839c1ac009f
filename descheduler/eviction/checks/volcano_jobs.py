"""What an eviction does to a job of Volcano as a whole: policies that restart or end it, and its disruption budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.placement_verification.placement_verification import (
    EVICT_GANG,
    REFUSE,
    VerifiedCheck,
    verification_args,
)
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.groups.gangs import volcano_gang_of
from descheduler.model.groups.volcano import (
    JOB_ENDS,
    JOB_KIND,
    JOB_RESTARTS,
    POD_EVICTED,
    JobBudget,
    VolcanoJob,
    task_of,
)
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.types import Profile


class LifecycleCheck:
    """Refuses evictions on which the job's controller ends the job, or restarts more of it than the pod.

    Where a profile moves gangs whole (`onGangMinimum: evictGang`), all pods that a restart takes down may go at once.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        found = map(verification_args, profiles)
        self._on_minimum = ["" if args is None else args.on_gang_minimum or REFUSE for args in found]
        self._snapshot = snapshot
        self._evicted: Counter[str] = Counter()

    def verdict(self, bundle: Bundle) -> Verdict:
        """The first job that an eviction ends, or restarts without all of its pods being asked for."""
        on_minimum = self._on_minimum[bundle.profile_index]
        if not on_minimum or not self._jobs:
            return ACCEPTED
        leaving = {pod.uid for pod in bundle.pods}
        for pod in bundle.pods:
            job, action = self._of(pod)
            if job is None or action not in JOB_ENDS | JOB_RESTARTS:
                continue
            taken_down = self._taken_down(job, pod, action)
            if (
                action in JOB_RESTARTS
                and on_minimum == EVICT_GANG
                and leaving.issuperset(each.uid for each in taken_down)
            ):
                continue
            return _refusal(job, action, len(taken_down), on_minimum)
        return ACCEPTED

    def mates(self, bundle: Bundle) -> Sequence[Pod]:
        """The other pods that go down with those of `bundle`, by name."""
        if self._on_minimum[bundle.profile_index] != EVICT_GANG or not self._jobs:
            return ()
        own = {pod.uid for pod in bundle.pods}
        found: dict[str, Pod] = {}
        for pod in bundle.pods:
            job, action = self._of(pod)
            if job is not None and action in JOB_RESTARTS:
                found |= {each.uid: each for each in self._taken_down(job, pod, action) if each.uid not in own}
        return sorted(found.values(), key=lambda pod: pod.key)

    def charge(self, bundle: Bundle) -> Undo:
        """Counts the pods that have left, which a later restart of their job does not take down any more."""
        return self._count(bundle.pods)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what earlier rounds have evicted."""
        self._count([move.pod for move in moves])

    def _count(self, pods: Iterable[Pod]) -> Undo:
        uids = [pod.uid for pod in pods] if self._jobs else []
        if not uids:
            return NOTHING_DONE
        self._evicted.update(uids)
        return lambda: self._evicted.subtract(uids)

    def _of(self, pod: Pod) -> tuple[VolcanoJob | None, str]:
        """The job of `pod`, and what its controller does when the pod is evicted."""
        job = next((job for owner in pod.owners if (job := self._jobs.get(owner.uid)) is not None), None)
        return job, job.action_on(POD_EVICTED, task_of(pod)) if job is not None else ""

    def _taken_down(self, job: VolcanoJob, pod: Pod, action: str) -> Sequence[Pod]:
        """The pods of `job` that the action deletes: all of them, or those of the task."""
        task = "" if action == "RestartJob" else task_of(pod)
        return [
            each
            for each in self._pods.get(job.uid, ())
            if self._evicted[each.uid] <= 0 and (not task or task_of(each) == task)
        ]

    @cached_property
    def _jobs(self) -> Mapping[str, VolcanoJob]:
        return {job.uid: job for job in self._snapshot.objects.get(JOB_KIND, ())}

    @cached_property
    def _pods(self) -> Mapping[str, Sequence[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self._snapshot.pods:
            for owner in pod.owners if not pod.is_terminal and not pod.is_terminating and pod.node_name else ():
                if owner.uid in self._jobs:
                    found.setdefault(owner.uid, []).append(pod)
        return found


def _refusal(job: VolcanoJob, action: str, num_pods: int, on_minimum: str) -> Verdict:
    name = f"{job.namespace}/{job.name}"
    does = "ends the job" if action in JOB_ENDS else f"restarts {counted(num_pods, 'pod')} of the job"
    setting = "" if action in JOB_ENDS else f" (onGangMinimum: {on_minimum})"
    message = f"Job {name} {does} when one of its pods is evicted (policies: {POD_EVICTED}: {action}){setting}"
    return refuse(Reason.JOB_LIFECYCLE, message, name)


class JobBudgetCheck(VerifiedCheck):
    """Keeps the disruption budget that a PodGroup states by annotation; the minimum comes before the maximum."""

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot, background: BackgroundEvictions) -> None:
        super().__init__(profiles, snapshot)
        self._background = background
        self._charged: set[str] = set()
        self._evicted: Counter[str] = Counter()

    def refusal(self, pod: Pod) -> Verdict | None:
        """The budget has to allow one more running pod to be away."""
        group = self._snapshot.gangs.volcano_group(pod)
        budget = None if group is None else JobBudget.of(group)
        if group is None or budget is None or not self._counts(pod):
            return None
        pods = self._snapshot.gangs.members.get(volcano_gang_of(pod), ())
        num_running = sum(map(self._runs, pods)) - self._evicted[group.gang_id]
        num_finished = sum(each.is_terminal for each in pods)
        if budget.num_allowed(len(pods), num_finished, num_running) > 0:
            return None
        message = f"PodGroup {group.gang_id} has {counted(num_running, 'pod')} running of {len(pods)} ({budget.text})"
        return refuse(Reason.JOB_DISRUPTION_BUDGET, message, group.gang_id)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts a running pod of a job."""
        return self._charge(candidate.pod)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what earlier rounds have evicted."""
        for move in moves:
            self._charge(move.pod)

    def _charge(self, pod: Pod) -> Undo:
        group = self._snapshot.gangs.volcano_group(pod)
        if group is None or not self._counts(pod):
            return NOTHING_DONE
        name = group.gang_id
        self._charged.add(pod.uid)
        self._evicted[name] += 1

        def undo() -> None:
            self._charged.discard(pod.uid)
            self._evicted[name] -= 1

        return undo

    def _counts(self, pod: Pod) -> bool:
        """Whether `pod` is a running one that this run has not evicted."""
        return self._runs(pod) and pod.uid not in self._charged and not self._background.concern(pod)

    @staticmethod
    def _runs(pod: Pod) -> bool:
        return pod.phase == "Running" and not pod.is_terminating
