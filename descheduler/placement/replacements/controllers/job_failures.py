"""What a Job makes of a pod that is evicted: whether it counts as failed, and against which limit."""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto

from descheduler.model.annotations import JOB_INDEX_ANNOTATION, JOB_INDEX_FAILURES_ANNOTATION
from descheduler.model.groups.workloads import FailureRule, JobFacts
from descheduler.model.pod import Pod
from descheduler.model.text.whole_number import whole_number
from descheduler.placement.replacements.controllers.situation import Members, Situation

__all__ = ["Counting", "counting_of", "fails_index", "failures_in_a_row", "index_failures", "index_of"]

_FAILED_ONLY = "Failed"
_EVICTED = ("DisruptionTarget", "True")
"""The condition that the eviction gives to the pod."""


class Counting(Enum):
    """What an evicted pod counts as."""

    COUNTED = auto()
    """A failure."""
    IGNORED = auto()
    """A failure that no limit counts."""
    FAILS_INDEX = auto()
    FAILS_JOB = auto()
    SUCCEEDS = auto()
    UNSEEN = auto()
    """Nothing, as long as it has no terminal phase."""


_ACTIONS = {
    "Ignore": Counting.IGNORED,
    "FailJob": Counting.FAILS_JOB,
    "FailIndex": Counting.FAILS_INDEX,
    "Count": Counting.COUNTED,
}


def counting_of(situation: Situation, facts: JobFacts) -> Counting:
    """What the victim counts as: with `podReplacementPolicy: Failed` by how it ends, else as failed at once."""
    if situation.workload.pod_replacement_policy != _FAILED_ONLY:
        return Counting.COUNTED
    exit_code = situation.ending.exit_code if situation.ending.stops else None
    if exit_code is None:
        return Counting.UNSEEN
    if not exit_code:
        return Counting.SUCCEEDS
    rule = next((rule for rule in facts.failure_rules if _matches(rule, exit_code, situation.victim)), None)
    return Counting.COUNTED if rule is None else _ACTIONS.get(rule.action, Counting.COUNTED)


def _matches(rule: FailureRule, exit_code: int, victim: Pod) -> bool:
    if rule.operator:
        return (exit_code in rule.exit_codes) is (rule.operator == "In")
    known = {_EVICTED, *((each.type, each.status) for each in victim.conditions or () if each.type != _EVICTED[0])}
    return any(condition in known for condition in rule.conditions)


def index_of(pod: Pod) -> int | None:
    """The completion index of a pod of an Indexed Job, which its name holds as well: `JOB-INDEX-SUFFIX`."""
    text = pod.labels.get(JOB_INDEX_ANNOTATION) or pod.annotations.get(JOB_INDEX_ANNOTATION, "")
    if not text and pod.controller is not None:
        text = pod.name.removeprefix(f"{pod.controller.name}-").partition("-")[0]
    return whole_number(text)


def index_failures(pod: Pod) -> int:
    """How often pods of its index failed before it."""
    text = pod.annotations.get(JOB_INDEX_FAILURES_ANNOTATION, "")
    return whole_number(text) or 0


def fails_index(pod: Pod, facts: JobFacts) -> bool:
    """Whether one more failure is more than its index may have. A pod with an unreadable index fails none."""
    limit = facts.backoff_limit_per_index
    return limit is not None and index_of(pod) is not None and index_failures(pod) + 1 > limit


def failures_in_a_row(members: Members) -> tuple[int, bool]:
    """How many pods of a Job have failed since the last success, and whether there may have been more.

    A success resets the back-off. Pods that are deleted count in the status of the Job, which tells no times.
    """
    pods, facts = members.pods, members.workload.job or JobFacts()
    successes = [ended for pod in pods if pod.phase == "Succeeded" and (ended := _ended_at(pod)) is not None]
    if not facts.num_succeeded and not successes:
        return facts.num_failed, False
    failed = [pod for pod in pods if pod.phase == "Failed"]
    last = max(successes, default=None)
    later = [pod for pod in failed if last is not None and (ended := _ended_at(pod)) is not None and ended > last]
    return len(later), last is None or len(failed) < facts.num_failed


def _ended_at(pod: Pod) -> datetime | None:
    """When a finished pod ended: since then it is not ready. Where that was not read, when it was created."""
    since = (each.transitioned_at for each in pod.conditions or () if each.type == "Ready")
    return next(since, None) or pod.created_at
