"""Jobs of Volcano: a policy says what becomes of the job when a pod is deleted.

Without a policy for that, the job creates the pod again, by the name of its task and its index, once the old one is
gone. Volcano's webhook rejects changes of a task's template, so that the new pod equals the old one.
"""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.groups.volcano import JOB_ENDS, JOB_RESTARTS, POD_EVICTED, VolcanoJob, task_of
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.replacements.answer import (
    OwnerAnswer,
    OwnerEnd,
    Returns,
    Situation,
    is_living,
    not_created,
    ordinal_of,
)

_ENDED = frozenset({"Aborted", "Completed", "Terminated", "Failed"})
_ENDING = frozenset({"Aborting", "Completing", "Terminating"})
_RESTARTING = "Restarting"
_RESTART_POD, _COMPLETES = "RestartPod", "CompleteJob"
_AS_WITHOUT = frozenset({"", "SyncJob"})
"""Actions that only create what is missing."""
_FAILURES = ("PodFailed", "TaskFailed")


def volcano_job(situation: Situation) -> OwnerAnswer:
    """Created once the pod is gone, unless the job has ended, or a policy ends or restarts it."""
    job, task = situation.workload, task_of(situation.victim)
    assert isinstance(job, VolcanoJob)  # noqa: S101 - what the decoder of the kind makes
    cause = _why_none(situation, job, task)
    if cause:
        return not_created(cause)
    if job.phase == _RESTARTING:
        return _created(doubt=f"{situation.name} is restarting, and deletes pods itself")
    action = job.action_on(POD_EVICTED, task)
    policy = f"policies: {POD_EVICTED}: {action}"
    if action in JOB_ENDS:
        end = OwnerEnd("Complete" if action == _COMPLETES else "Failed", action)
        return OwnerAnswer(Returns.OWNER_ENDS, loss=f"the eviction ends {situation.name} ({policy})", end=end)
    if action in JOB_RESTARTS or action == _RESTART_POD:
        return _restarted(situation, job, action, policy)
    if action not in _AS_WITHOUT:
        return _created(doubt=f"it is unknown what {situation.name} does after an eviction ({policy})")
    return _created(doubt="" if action else _doubt_of_failure(situation, job, task))


def _why_none(situation: Situation, job: VolcanoJob, task: str) -> str:
    """Why the job creates no pod, whatever its policies are."""
    name = situation.name
    if job.phase in _ENDED:
        return f"{name} has ended (phase: {job.phase})"
    if job.phase in _ENDING:
        return f"{name} is ending (phase: {job.phase})"
    known = job.tasks.get(task)
    index = ordinal_of(situation.victim)
    if known is not None and known.replicas is not None and index is not None and index >= known.replicas:
        return f"task {task} of {name} has no index {index} (replicas: {known.replicas})"
    return ""


def _created(*, doubt: str = "") -> OwnerAnswer:
    return OwnerAnswer(Returns.WHEN_GONE, doubt=doubt, has_same_name=True)


def _restarted(situation: Situation, job: VolcanoJob, action: str, policy: str) -> OwnerAnswer:
    """The pods that the restart deletes come again, unless the job has been restarted too often."""
    name = situation.name
    if job.num_restarts + 1 >= job.max_retry:
        counts = f"{policy}, maxRetry: {job.max_retry}, restarted {counted(job.num_restarts, 'time')} before"
        end = OwnerEnd("Failed", action)
        return OwnerAnswer(Returns.OWNER_ENDS, loss=f"the eviction fails {name} ({counts})", end=end)
    pods = _taken_down(situation, action)
    leaving = {pod.key for pod in (situation.victim, *situation.gone, *situation.mates)}
    is_whole = all(pod.key in leaving for pod in pods)
    lost = f"{name} restarts {counted(len(pods), 'pod')} ({policy})"
    return OwnerAnswer(
        Returns.LATER,
        doubt="" if is_whole else f"{lost}, and it is unknown whether all of them can be scheduled again",
        has_same_name=True,
        notes=(f"{lost}; it is restart {job.num_restarts + 1} of maxRetry: {job.max_retry}",),
    )


def _taken_down(situation: Situation, action: str) -> Sequence[Pod]:
    """The pods that the action deletes: all of the job, those of the task, or this one."""
    if action == _RESTART_POD:
        return (situation.victim,)
    task = "" if action == "RestartJob" else task_of(situation.victim)
    return [pod for pod in situation.pods if is_living(pod) and (not task or task_of(pod) == task)]


def _doubt_of_failure(situation: Situation, job: VolcanoJob, task: str) -> str:
    """Why an evicted pod may do more: a policy is about pods that fail, as this one can when it is stopped."""
    for event in _FAILURES:
        action = job.action_on(event, task)
        if action in JOB_ENDS | JOB_RESTARTS:
            policy = f"policies: {event}: {action}"
            return f"it is unknown whether {situation.name} counts an evicted pod as failed ({policy})"
    return ""
