"""StatefulSets: each pod has its ordinal, its name and its claims; the next one of that name comes when it is gone.

With OrderedReady nothing is created above an ordinal whose pod is not there and ready. Which revision comes follows
from `partition`: ordinals below it come back as they were, the others, and all with OnDelete, by the newest template.
"""

from __future__ import annotations

from bisect import bisect, bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import count

from msgspec.structs import replace

from descheduler.model.groups.workloads import StatefulSetFacts, Workload
from descheduler.model.pod import Pod
from descheduler.placement.replacements.answer import (
    Members,
    OwnerAnswer,
    Returns,
    Situation,
    is_living,
    not_created,
    ordinal_of,
)

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


def _facts(of: Situation | Members) -> StatefulSetFacts:
    return of.workload.stateful_set or StatefulSetFacts()


def _in_order(answer: OwnerAnswer, situation: Situation, ordinal: int) -> OwnerAnswer:
    """`answer`, or what it waits for: pods of lower ordinals that are not available.

    One that neither is ready nor evicted by this run holds it up for good. A pod of a higher ordinal that was evicted
    before waits for this one.
    """
    line = situation.members.once(_Line).after(situation.gone)
    until, name = _waits_until(situation, ordinal, line), situation.name
    if until:
        return replace(answer, returns=Returns.LATER, conditions=(f"{name} waits until {until}",))
    above = line.next_that_left(ordinal)
    if above is None:
        return answer
    pod = f"pod {situation.workload.name}-{above}, which is evicted as well,"
    return replace(answer, conditions=(f"{pod} waits until this pod of {name} is ready again",))


def _waits_until(situation: Situation, ordinal: int, line: _Line) -> str:
    """What has to be true of a pod of a lower ordinal first; empty where nothing has."""
    name = situation.workload.name
    broken, lower = line.first_broken(ordinal), line.first_lacking(ordinal)
    if broken is not None:
        return f"pod {name}-{broken} is ready"
    if lower is None:
        return ""
    if line.has_left(lower):
        return f"pod {name}-{lower}, which is evicted as well, is ready again"
    return f"pod {name}-{lower} has been ready for {situation.workload.min_ready_seconds} s (minReadySeconds)"


class _Line:
    """The pods of a StatefulSet by their ordinals, and those ordinals without an available pod, in order.

    It follows the pods that have left, which are mostly those of the last question and one more.
    """

    def __init__(self, members: Members) -> None:
        self._first = _facts(members).first_ordinal
        self._members = members
        self._pods = {number: pod for pod in members.pods if (number := ordinal_of(pod)) is not None}
        self._missing = next(number for number in count(self._first) if number not in self._pods)
        self._broken = sorted(number for number, pod in self._pods.items() if not (pod.is_ready and is_living(pod)))
        self._recent = sorted(number for number, pod in self._pods.items() if not _is_available(pod, members))
        self._gone: list[Pod] = []
        self._left: list[int] = []

    def after(self, gone: Sequence[Pod]) -> _Line:
        """The line without the pods that are `gone`; until it is asked for again."""
        while len(self._gone) > len(gone) or self._gone != list(gone[: len(self._gone)]):
            self._take_back(self._gone.pop())
        for pod in gone[len(self._gone) :]:
            self._gone.append(pod)
            self._take_out(pod)
        return self

    def has_left(self, number: int) -> bool:
        """Whether the pod of an ordinal is gone."""
        return _holds(self._left, number)

    def first_broken(self, below: int) -> int | None:
        """The lowest ordinal that has no pod which can get available by waiting, of those below this one."""
        return min(filter(below.__gt__, (self._missing, *_next_of(self._broken, self._first))), default=None)

    def first_lacking(self, below: int) -> int | None:
        """The lowest ordinal whose pod has left or is not available yet, of those below this one."""
        lowest = (*_next_of(self._left, self._first), *_next_of(self._recent, self._first))
        return min(filter(below.__gt__, lowest), default=None)

    def next_that_left(self, above: int) -> int | None:
        """The ordinal of the next pod above this one that has left, and that comes back."""
        number = next(iter(self._left[bisect(self._left, above) :]), None)
        return number if number is not None and number < self._first + self._members.workload.replicas else None

    def _take_out(self, pod: Pod) -> None:
        number = ordinal_of(pod)
        if number is not None:
            insort(self._left, number)
            for numbers in (self._broken, self._recent):
                if _holds(numbers, number):
                    numbers.remove(number)

    def _take_back(self, pod: Pod) -> None:
        number = ordinal_of(pod)
        if number is not None:
            self._left.remove(number)
            if not (pod.is_ready and is_living(pod)):
                insort(self._broken, number)
            if not _is_available(pod, self._members):
                insort(self._recent, number)


def _next_of(numbers: Sequence[int], least: int) -> Iterator[int]:
    """The lowest of some sorted `numbers` that is at least `least`, if there is one."""
    place = bisect_left(numbers, least)
    return iter(numbers[place : place + 1])


def _holds(numbers: Sequence[int], number: int) -> bool:
    return number in _next_of(numbers, number)


def _is_available(pod: Pod, members: Members) -> bool:
    """Whether a pod that is ready has been so for `minReadySeconds`, as far as the snapshot tells since when."""
    conditions = (each for each in pod.conditions or () if each.type == "Ready")
    since = next((each.transitioned_at for each in conditions), pod.started_at)
    if not members.workload.min_ready_seconds or members.now is None or since is None:
        return True
    return (members.now - since).total_seconds() >= members.workload.min_ready_seconds


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
    victim = situation.victim
    like = victim if _is_of(victim, facts.current_revision) else situation.members.once(_one_of_current_revision)
    return replace(answer, like=like) if like is not None else replace(answer, doubt=_NO_TEMPLATE)


def _one_of_current_revision(members: Members) -> Pod | None:
    revision = _facts(members).current_revision
    return next((pod for pod in members.pods if _is_of(pod, revision)), None)


def _is_of(pod: Pod, revision: str) -> bool:
    return pod.labels.get(_HASH) == revision
