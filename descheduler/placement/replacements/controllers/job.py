"""Jobs: an evicted pod is a failed one, unless a `podFailurePolicy` says otherwise.

The next pod comes after a back-off of 10 s, doubled for every failure since the last success and common to pods that
leave together; during it the Job creates no pod at all. A failure too many ends the Job, or its index.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import Enum, auto

from descheduler.model.annotations import JOB_INDEX_ANNOTATION, JOB_INDEX_FAILURES_ANNOTATION
from descheduler.model.groups.workloads import FailureRule, JobFacts
from descheduler.model.pod import Pod
from descheduler.model.text.numbers import whole_number
from descheduler.placement.replacements.answer import (
    Members,
    OwnerAnswer,
    OwnerEnd,
    Returns,
    Situation,
    is_living,
    not_created,
)

_FAILED_ONLY = "Failed"
_EVICTED = ("DisruptionTarget", "True")
"""The condition that the eviction gives to the pod."""


class _Counting(Enum):
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
    "Ignore": _Counting.IGNORED,
    "FailJob": _Counting.FAILS_JOB,
    "FailIndex": _Counting.FAILS_INDEX,
    "Count": _Counting.COUNTED,
}


def _counting_of(situation: Situation, facts: JobFacts) -> _Counting:
    """What the victim counts as: with `podReplacementPolicy: Failed` by how it ends, else as failed at once."""
    if situation.workload.pod_replacement_policy != _FAILED_ONLY:
        return _Counting.COUNTED
    exit_code = situation.ending.exit_code if situation.ending.stops else None
    if exit_code is None:
        return _Counting.UNSEEN
    if not exit_code:
        return _Counting.SUCCEEDS
    rule = next((rule for rule in facts.failure_rules if _matches(rule, exit_code, situation.victim)), None)
    return _Counting.COUNTED if rule is None else _ACTIONS.get(rule.action, _Counting.COUNTED)


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


def _fails_index(pod: Pod, facts: JobFacts) -> bool:
    """Whether one more failure is more than its index may have. A pod with an unreadable index fails none."""
    limit = facts.backoff_limit_per_index
    return limit is not None and index_of(pod) is not None and index_failures(pod) + 1 > limit


def _failures_in_a_row(members: Members) -> tuple[int, bool]:
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


_ENDED = frozenset({"Complete", "Failed"})
_ENDING = frozenset({"FailureTarget", "SuccessCriteriaMet"})
_OWN_CONTROLLER = ("", "kubernetes.io/job-controller")
_FIRST_BACKOFF_SECONDS, _LONGEST_BACKOFF_SECONDS = 10, 600
_MOST_DOUBLINGS = 10

_MANAGED = "a controller other than Kubernetes' own manages the Job (managedBy)"
_SURPLUS = "the Job has more pods than it is to run, and can delete others instead"
_COMPLETE = OwnerEnd("Complete", "CompletionsReached")


def job(situation: Situation) -> OwnerAnswer:
    """Created after a back-off, unless the Job is done, paused, or ends with this failure."""
    facts = situation.workload.job or JobFacts()
    cause = _why_none(situation, facts)
    if cause:
        return not_created(cause)
    if facts.managed_by not in _OWN_CONTROLLER:
        return OwnerAnswer(Returns.LATER, doubt=_MANAGED)
    counting = _counting_of(situation, facts)
    match counting:
        case _Counting.FAILS_JOB:
            return _ends(situation, "podFailurePolicy: FailJob", OwnerEnd("Failed", "PodFailurePolicy"))
        case _Counting.SUCCEEDS:
            return _succeeds(situation, facts)
        case _Counting.UNSEEN:
            return not_created(f"{situation.name} waits until the pod has stopped (podReplacementPolicy: Failed)")
    if facts.completions is None and _has_success(situation, facts):
        return _last_worker(situation)
    num_failures = facts.num_failed + len(situation.gone) + 1
    if counting is not _Counting.IGNORED and num_failures > facts.backoff_limit:
        counts = f"backoffLimit: {facts.backoff_limit}, {facts.num_failed} failed before"
        return _ends(situation, counts, OwnerEnd("Failed", "BackoffLimitExceeded"))
    if counting is _Counting.FAILS_INDEX or (counting is _Counting.COUNTED and _fails_index(situation.victim, facts)):
        return _without_index(situation, facts)
    return _after_backoff(situation, facts, counting)


def _why_none(situation: Situation, facts: JobFacts) -> str:
    """Why the Job creates no pod, whatever becomes of this one."""
    name, parallelism = situation.name, situation.workload.replicas
    if facts.conditions & _ENDED:
        return f"{name} has ended"
    if facts.conditions & _ENDING:
        return f"{name} is ending"
    if situation.victim.is_terminal:
        return "the pod has finished; no replacement pod is created"
    if facts.is_suspended:
        return f"{name} is suspended (suspend: true)"
    if not parallelism:
        return f"{name} runs no pods (parallelism: 0)"
    index = index_of(situation.victim) if facts.is_indexed else None
    if index is not None and facts.completions is not None and index >= facts.completions:
        return f"{name} has no index {index} (completions: {facts.completions})"
    left = _seconds_left(situation, facts)
    if left is not None and left <= 0:
        return f"{name} has run for too long (activeDeadlineSeconds: {facts.active_deadline_seconds})"
    return ""


def _seconds_left(situation: Situation, facts: JobFacts) -> float | None:
    """Until the Job has run for its whole time, None where that is not limited or not known."""
    if facts.active_deadline_seconds is None or facts.started_at is None or situation.now is None:
        return None
    return facts.active_deadline_seconds - (situation.now - facts.started_at).total_seconds()


def _ends(situation: Situation, why: str, end: OwnerEnd) -> OwnerAnswer:
    return OwnerAnswer(Returns.OWNER_ENDS, loss=f"the eviction fails {situation.name} ({why})", end=end)


def _succeeds(situation: Situation, facts: JobFacts) -> OwnerAnswer:
    """The process ends with code 0 when it is stopped, which counts as a completion."""
    loss = f"{situation.name} counts the pod as succeeded, although its work was cut short"
    is_last = situation.is_alone if facts.completions is None else facts.num_succeeded + 1 >= facts.completions
    return OwnerAnswer(Returns.OWNER_ENDS, loss=loss, end=_COMPLETE if is_last else None)


def _has_success(situation: Situation, facts: JobFacts) -> bool:
    return facts.num_succeeded > 0 or situation.members.once(_any_succeeded)


def _any_succeeded(members: Members) -> bool:
    return any(pod.phase == "Succeeded" for pod in members.pods)


def _last_worker(situation: Situation) -> OwnerAnswer:
    """Of a work queue, once one pod has succeeded the others only finish what they do."""
    if not situation.is_alone:
        return not_created(f"{situation.name} starts no more pods: one has succeeded (completions is not set)")
    loss = f"the eviction ends {situation.name}: its last pod does not finish (completions is not set)"
    return OwnerAnswer(Returns.OWNER_ENDS, loss=loss, end=_COMPLETE)


def _without_index(situation: Situation, facts: JobFacts) -> OwnerAnswer:
    """The index of the pod fails, and with it the Job, where it was the last one, or one too many."""
    failed = facts.failed_indexes | set(_failing_indexes(situation, facts))
    end = None
    if facts.max_failed_indexes is not None and len(failed) > facts.max_failed_indexes:
        end = OwnerEnd("Failed", "MaxFailedIndexesExceeded")
    elif facts.completions is not None and len(failed | facts.completed_indexes) >= facts.completions:
        end = OwnerEnd("Failed", "FailedIndexes")
    limit = facts.backoff_limit_per_index
    is_over = _fails_index(situation.victim, facts)
    why = f"backoffLimitPerIndex: {limit}" if is_over else "podFailurePolicy: FailIndex"
    loss = f"the eviction fails index {index_of(situation.victim)} of {situation.name} ({why})"
    index = index_of(situation.victim)
    return OwnerAnswer(Returns.OWNER_ENDS, loss=loss, end=end, failed_index=index, is_counted=True)


def _failing_indexes(situation: Situation, facts: JobFacts) -> Iterator[int]:
    """The indexes that fail with the pods that leave."""
    by_rule = _counting_of(situation, facts) is _Counting.FAILS_INDEX
    for pod in (situation.victim, *situation.gone):
        index = index_of(pod)
        if index is not None and (by_rule or _fails_index(pod, facts)):
            yield index


def _after_backoff(situation: Situation, facts: JobFacts, counting: _Counting) -> OwnerAnswer:
    name, per_index = situation.name, facts.backoff_limit_per_index is not None
    seconds, is_least = _backoff_seconds(situation, facts)
    left = _seconds_left(situation, facts)
    if left is not None and left <= seconds:
        why = f"activeDeadlineSeconds: {facts.active_deadline_seconds}, back-off: {seconds} s"
        return _ends(situation, why, OwnerEnd("Failed", "DeadlineExceeded"))
    mates = set(map(id, situation.mates))
    is_alone = per_index or all(id(pod) in mates for pod in situation.gone)
    shared = f"{name} loses another pod in this run, and creates none before its back-off of {seconds} s has passed"
    return OwnerAnswer(
        Returns.LATER,
        is_early=situation.workload.pod_replacement_policy != "Failed",
        conditions=() if is_alone else (shared,),
        delay_seconds=seconds,
        is_counted=counting is _Counting.COUNTED,
        doubt=_SURPLUS if _is_surplus(situation, facts) else "",
        notes=(_wait(name, seconds, is_least=is_least), *_notes(situation, facts, counting)),
    )


def _wait(name: str, seconds: int, *, is_least: bool) -> str:
    return f"{name} creates the pod after a back-off of {'at least ' if is_least else ''}{seconds} s"


def _notes(situation: Situation, facts: JobFacts, counting: _Counting) -> Iterator[str]:
    name = situation.name
    if counting is _Counting.COUNTED and facts.backoff_limit_per_index is not None:
        limit = f"{index_failures(situation.victim) + 1} of backoffLimitPerIndex: {facts.backoff_limit_per_index}"
        yield f"{name} counts the eviction as a failure ({limit})"
    elif counting is _Counting.COUNTED:
        number = facts.num_failed + len(situation.gone) + 1
        yield f"{name} counts the eviction as a failure ({number} of backoffLimit: {facts.backoff_limit})"
    if situation.workload.pod_replacement_policy == "Failed":
        yield f"{name} counts the pod as succeeded if its containers exit with code 0 when they are stopped"


def _backoff_seconds(situation: Situation, facts: JobFacts) -> tuple[int, bool]:
    """The back-off, and whether it may be longer; of an index its own failures count."""
    if facts.backoff_limit_per_index is not None:
        num_before, is_least = index_failures(situation.victim), False
    else:
        num_in_a_row, is_least = situation.members.once(_failures_in_a_row)
        num_before = num_in_a_row + len(situation.gone)
    seconds = min(_FIRST_BACKOFF_SECONDS << min(num_before, _MOST_DOUBLINGS), _LONGEST_BACKOFF_SECONDS)
    return seconds, is_least and seconds < _LONGEST_BACKOFF_SECONDS


def _is_surplus(situation: Situation, facts: JobFacts) -> bool:
    wanted = situation.workload.replicas
    if facts.completions is not None:
        wanted = min(wanted, facts.completions - len(facts.completed_indexes | facts.failed_indexes))
        wanted = wanted if facts.is_indexed else min(wanted, facts.completions - facts.num_succeeded)
    counted = situation.members.once(_wanted)
    num_left = sum(id(pod) in counted for pod in (situation.victim, *situation.gone))
    return len(counted) - num_left + len(situation.gone) >= max(wanted, 1)


def _wanted(members: Members) -> frozenset[int]:
    """The pods of the Job that run on or wait for a node, by identity, without those of an index that it has not."""
    facts = members.workload.job or JobFacts()
    completions = facts.completions if facts.is_indexed else None
    return frozenset(id(pod) for pod in members.pods if is_living(pod) and _is_below(pod, completions))


def _is_below(pod: Pod, completions: int | None) -> bool:
    if completions is None:
        return True
    index = index_of(pod)
    return index is None or index < completions
