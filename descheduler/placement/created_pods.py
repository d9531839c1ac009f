"""Pods that owners create, or keep back, because of what else has left and come: evictions looked at all together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import JOB_INDEX_ANNOTATION, JOB_INDEX_FAILURES_ANNOTATION
from descheduler.model.groups.workloads import JobFacts, StatefulSetFacts, Workload
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing
from descheduler.placement.replacements.answer import is_living, ordinal_of
from descheduler.placement.replacements.controllers.job import index_of
from descheduler.placement.replacements.controllers.stateful_set import is_ordered
from descheduler.placement.replacements.replacement import ReplacementMaker

_MOST_CREATED = 1000
"""How many pods that were lacking one owner creates at once; more would take longer to tell than anybody waits."""
_POD_INDEX = "apps.kubernetes.io/pod-index"
_POD_NAME = "statefulset.kubernetes.io/pod-name"


class Coming(msgspec.Struct, frozen=True):
    """An eviction of `victim` with its landing, and whether the pod that comes for it gets ready, judged for itself."""

    victim: Pod
    landing: Landing | None
    is_ready: bool


class CreatedPods(msgspec.Struct, frozen=True):
    """`held_back` are the UIDs of victims for which nothing comes after all; `others` come for no evicted pod."""

    held_back: frozenset[str]
    others: tuple[Pod, ...]


def created_pods(
    before: Snapshot, workloads: Mapping[str, Workload], coming: Sequence[Coming], now: datetime
) -> CreatedPods:
    """What owners make of all evictions together; `workloads` are as they are once they have seen them.

    A StatefulSet with OrderedReady creates nothing above a pod that is not ready, and creates what it lacked for that
    once it is ready. An Indexed Job runs the next index in the place of one that has failed.
    """
    owners = _Owners(before, workloads, now)
    by_owner: dict[str, list[Coming]] = {}
    for each in coming:
        if each.victim.controller is not None:
            by_owner.setdefault(each.victim.controller.uid, []).append(each)
    held_back: set[str] = set()
    others: list[Pod] = []
    for uid, of_owner in by_owner.items():
        workload = workloads.get(uid)
        if workload is not None and is_ordered(workload):
            held_back.update(owners.held_back(workload, of_owner, others))
        elif workload is not None and workload.job is not None:
            others += owners.next_indexes(workload, workload.job, of_owner)
    return CreatedPods(frozenset(held_back), tuple(others))


class _Owners:
    """The owners of the pods of one cluster, after evictions."""

    def __init__(self, before: Snapshot, workloads: Mapping[str, Workload], now: datetime) -> None:
        self._before = before
        self._maker = ReplacementMaker(dataclasses.replace(before, workloads=workloads), now)
        self._now = now

    def held_back(self, workload: Workload, coming: Sequence[Coming], others: list[Pod]) -> Iterator[str]:
        """The UIDs of victims whose successors wait for a lower ordinal; adds to `others` what was lacking before."""
        evicted = {ordinal_of(each.victim): each for each in coming}
        there = {ordinal_of(pod): pod for pod in self._before.pods_by_controller.get(workload.uid, ())}
        first = (workload.stateful_set or StatefulSetFacts()).first_ordinal
        end, next_one, num_left = first + workload.replicas, first, _MOST_CREATED
        is_open = True
        wanted = sorted(each for each in {*evicted, *there} if each is not None and first <= each < end)
        for ordinal in (*wanted, end):
            lacking = range(next_one, min(ordinal, next_one + num_left)) if is_open else range(0)
            others += [self._made(_of_ordinal(coming[0].victim, workload, each)) for each in lacking]
            next_one, num_left = ordinal + 1, num_left - len(lacking)
            successor, pod = evicted.get(ordinal), there.get(ordinal)
            if successor is not None:
                if not is_open:
                    yield successor.victim.uid
                is_open = is_open and successor.is_ready
            elif pod is not None:
                is_open = is_open and pod.is_ready and is_living(pod)

    def next_indexes(self, workload: Workload, job: JobFacts, coming: Sequence[Coming]) -> Iterator[Pod]:
        """Pods of indexes that have not run yet, in the place of those that have failed."""
        failed = [each.victim for each in coming if _fails_index(each.landing)]
        if not failed or job.completions is None:
            return
        gone = set(map(id, failed))
        pods = self._before.pods_by_controller.get(workload.uid, ())
        # Evicted pods whose index goes on keep their place until they are there again.
        running = [pod for pod in pods if is_living(pod) and id(pod) not in gone]
        taken = {index_of(pod) for pod in running} | job.completed_indexes | job.failed_indexes
        left = (index for index in range(job.completions) if index not in taken)
        for index in islice(left, min(max(0, workload.replicas - len(running)), _MOST_CREATED)):
            made = self._made(_of_index(failed[0], index))
            yield replace(made, annotations={**made.annotations, JOB_INDEX_FAILURES_ANNOTATION: "0"})

    def _made(self, stand_in: Pod) -> Pod:
        """The pod that would come, were `stand_in` evicted; it has no node yet."""
        pod = self._maker.replacement_of(stand_in).pod
        return replace(pod or stand_in, uid=f"{stand_in.uid}+", node_name="", created_at=self._now)


def _fails_index(landing: Landing | None) -> bool:
    return landing is not None and landing.replacement.answer.failed_index is not None


def _of_ordinal(pod: Pod, workload: Workload, ordinal: int) -> Pod:
    """The pod of that ordinal as it would be, were it like `pod` of the same StatefulSet."""
    name = f"{workload.name}-{ordinal}"
    ours = {_POD_NAME: name, _POD_INDEX: str(ordinal)}
    labels = {key: ours.get(key, value) for key, value in pod.labels.items()}
    return replace(pod, name=name, uid=f"{workload.uid}-{ordinal}", labels=labels)


def _of_index(pod: Pod, index: int) -> Pod:
    """The pod of that index as it would be, were it like `pod` of the same Job."""
    note = {JOB_INDEX_ANNOTATION: str(index)}
    return replace(
        pod,
        name=f"{pod.name}-{index}",
        uid=f"{pod.uid}-{index}",
        labels={**pod.labels, **note},
        annotations={**pod.annotations, **note},
    )
