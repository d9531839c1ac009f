"""What owners have noted of evictions when the next run comes: Jobs count them as failures, or have ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from descheduler.model.workloads import JobFacts, Workload
from descheduler.placement.landings.landing import Landing
from descheduler.plan.moves import Move

__all__ = ["ended_owners", "workloads_after"]


def workloads_after(workloads: Mapping[str, Workload], moves: Iterable[Move]) -> Mapping[str, Workload]:
    """`workloads` once their controllers have seen the evictions of `moves`."""
    after = dict(workloads)
    for uid, landing in _owned(moves):
        workload = after.get(uid)
        if workload is not None and workload.job is not None:
            after[uid] = msgspec.structs.replace(workload, job=_job_after(workload.job, landing))
    return after


def ended_owners(moves: Iterable[Move]) -> frozenset[str]:
    """The UIDs of Jobs that end with these evictions, and with that all their pods."""
    return frozenset(uid for uid, landing in _owned(moves) if landing.replacement.answer.end is not None)


def _owned(moves: Iterable[Move]) -> Iterator[tuple[str, Landing]]:
    """The UID of the controller of each pod that leaves, and the landing of the pod that comes for it."""
    for move in moves:
        if move.landing is not None and move.pod.controller is not None:
            yield move.pod.controller.uid, move.landing


def _job_after(job: JobFacts, landing: Landing) -> JobFacts:
    answer = landing.replacement.answer
    if answer.end is not None:
        return msgspec.structs.replace(job, conditions=job.conditions | {answer.end.condition})
    failed = job.failed_indexes if answer.failed_index is None else job.failed_indexes | {answer.failed_index}
    return msgspec.structs.replace(job, failed_indexes=failed, num_failed=job.num_failed + answer.is_counted)
