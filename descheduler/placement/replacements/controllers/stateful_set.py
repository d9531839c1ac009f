"""StatefulSets: each pod has its ordinal, its name and its claims; the next one of that name comes when it is gone.

With OrderedReady nothing is created above an ordinal whose pod is not there and ready. Which revision comes follows
from `partition`: ordinals below it come back as they were, the others, and all with OnDelete, by the newest template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.model.workloads import StatefulSetFacts, Workload
from descheduler.placement.replacements.answer import OwnerAnswer, Returns, not_created
from descheduler.placement.replacements.controllers.situation import Situation, is_living, ordinal_of

__all__ = ["is_ordered", "stateful_set", "wants_ordinal"]

_ORDERED = ("", "OrderedReady")
_HASH = "controller-revision-hash"
_NO_TEMPLATE = "the pod template of the revision that a StatefulSet keeps (partition) is not in the snapshot"


def stateful_set(situation: Situation) -> OwnerAnswer:
    """Created when gone, with OrderedReady only once all pods of lower ordinals are ready."""
    workload, ordinal = situation.workload, ordinal_of(situation.victim)
    first = _facts(situation).first_ordinal
    if ordinal is not None and not wants_ordinal(situation, ordinal):
        ordinals = f"ordinals {first} to {first + workload.replicas - 1}" if workload.replicas else "no ordinals"
        return not_created(f"{situation.name} has {ordinals} (replicas: {workload.replicas})")
    answer = _with_revision(OwnerAnswer(Returns.WHEN_GONE), situation, ordinal)
    if ordinal is None or not is_ordered(workload):
        return answer
    return _in_order(answer, situation, ordinal)


def is_ordered(workload: Workload) -> bool:
    """Whether it is a StatefulSet that creates no pod before those of lower ordinals are ready."""
    return workload.kind == "StatefulSet" and workload.pod_management_policy in _ORDERED


def wants_ordinal(situation: Situation, ordinal: int) -> bool:
    """Whether the StatefulSet is to have a pod of this ordinal."""
    first = _facts(situation).first_ordinal
    return first <= ordinal < first + situation.workload.replicas


def _facts(situation: Situation) -> StatefulSetFacts:
    return situation.workload.stateful_set or StatefulSetFacts()


def _in_order(answer: OwnerAnswer, situation: Situation, ordinal: int) -> OwnerAnswer:
    """`answer`, or what it waits for: pods of lower ordinals that are not available.

    One that neither is ready nor evicted by this run holds it up for good. A pod of a higher ordinal that was evicted
    before waits for this one.
    """
    lacking = list(_lacking(situation, ordinal))
    if lacking:
        first = next((each for each in lacking if each.is_broken), lacking[0])
        condition = f"{situation.name} waits until pod {first.name}{first.until}"
        return replace(answer, returns=Returns.LATER, conditions=(condition,))
    above = _evicted_above(situation, ordinal)
    if above is None:
        return answer
    condition = f"pod {above.name}, which is evicted as well, waits until this pod of {situation.name} is ready again"
    return replace(answer, conditions=(condition,))


class _Lacking(NamedTuple):
    """A pod of a lower ordinal that is not available, and what has to be true `until` then."""

    name: str
    until: str
    is_broken: bool = False


def _lacking(situation: Situation, ordinal: int) -> Iterator[_Lacking]:
    """The pods of lower ordinals that are not available, the lowest first. Of those that are not there it is one."""
    pods = {number: pod for pod in situation.pods if (number := ordinal_of(pod)) is not None}
    first = _facts(situation).first_ordinal
    missing = next((number for number in range(first, ordinal) if number not in pods), ordinal)
    gone = set(map(id, situation.gone))
    least = situation.workload.min_ready_seconds
    for lower in sorted(number for number in {*pods, missing} if first <= number < ordinal):
        pod, name = pods.get(lower), f"{situation.workload.name}-{lower}"
        if pod is not None and id(pod) in gone:
            yield _Lacking(name, ", which is evicted as well, is ready again")
        elif pod is None or not pod.is_ready or not is_living(pod):
            yield _Lacking(name, " is ready", is_broken=True)
        elif not _is_available(pod, situation):
            yield _Lacking(name, f" has been ready for {least} s (minReadySeconds)")


def _evicted_above(situation: Situation, ordinal: int) -> Pod | None:
    """The pod of the next higher ordinal that this run has evicted, and that comes back."""
    above = {number: pod for pod in situation.gone if (number := ordinal_of(pod)) is not None and number > ordinal}
    wanted = [number for number in above if wants_ordinal(situation, number)]
    return above[min(wanted)] if wanted else None


def _is_available(pod: Pod, situation: Situation) -> bool:
    """Whether a ready pod has been so for `minReadySeconds`, as far as the snapshot tells since when."""
    conditions = (each for each in pod.conditions or () if each.type == "Ready")
    since = next((each.transitioned_at for each in conditions), pod.started_at)
    if not situation.workload.min_ready_seconds or situation.now is None or since is None:
        return True
    return (situation.now - since).total_seconds() >= situation.workload.min_ready_seconds


def _with_revision(answer: OwnerAnswer, situation: Situation, ordinal: int | None) -> OwnerAnswer:
    """`answer` with the template that comes, where that is not the newest one."""
    facts, workload = _facts(situation), situation.workload
    keeps = ordinal is not None and facts.partition is not None and ordinal < facts.first_ordinal + facts.partition
    is_newest = facts.current_revision == facts.update_revision and not workload.is_unseen
    if not keeps or not facts.current_revision or is_newest:
        return answer
    revision = situation.snapshot.revisions.get((workload.namespace, facts.current_revision))
    if revision is not None and (revision.template is not None or workload.template is None):
        return replace(answer, revision=revision)
    like = next((pod for pod in (situation.victim, *situation.pods) if _is_of(pod, facts.current_revision)), None)
    return replace(answer, like=like) if like is not None else replace(answer, doubt=_NO_TEMPLATE)


def _is_of(pod: Pod, revision: str) -> bool:
    return pod.labels.get(_HASH) == revision
