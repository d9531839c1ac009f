"""A PodMigrationJob of Koordinator: which pod moves, how far that has come, and what is in its way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import find_key
from descheduler.model.koordinator.migration_job import JobMode, MigrationJob
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.pod import Pod
from descheduler.model.text.printable import printable
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle


class MigrationJobStep(Fields, frozen=True):
    """A condition of the job, as its status has it."""

    type: str
    is_true: bool = msgspec.field(name="true")
    reason: str
    at: datetime | None


class MigrationJobExplanation(Fields, frozen=True):
    """Everything about one PodMigrationJob.

    `pod` is the pod that it names, `node` the one that it is on, null where there is no such pod any more. `mode` is
    empty for the default of the controller. `ends_at` is null where the job has no time limit. `reservation` is the
    Reservation that it uses, and `replacement` the pod that came, each null without one. `notes` say what it waits
    for, and what is in its way.
    """

    name: str
    phase: str
    condition: str
    reason: str
    mode: str
    is_paused: bool = msgspec.field(name="paused")
    has_passed: bool = msgspec.field(name="passedArbitration")
    pod: PodReference
    node: str | None
    ends_at: datetime | None
    reservation: str | None
    replacement: PodReference | None
    steps: tuple[MigrationJobStep, ...]
    notes: tuple[str, ...]


def _explain(name: str, snapshot: Snapshot, now: datetime) -> MigrationJobExplanation:
    """The PodMigrationJob called `name`, as the cluster is. Raises UnknownSubjectError."""
    known = {each.name: each for each in snapshot.migration_jobs}
    job = known[find_key("PodMigrationJob", snapshot, name, known)]
    pod = _pod_of(job, snapshot)
    return MigrationJobExplanation(
        name=job.name,
        phase=job.phase or "Pending",
        condition=job.condition,
        reason=job.reason,
        mode=job.mode,
        is_paused=job.is_paused,
        has_passed=job.has_passed,
        pod=PodReference(namespace=job.pod_namespace, name=job.pod_name, uid=job.pod_uid),
        node=None if pod is None else pod.node_name or None,
        ends_at=job.ends_at,
        reservation=job.reservation_name or None,
        replacement=None if job.replacement is None else reference(job.replacement),
        steps=tuple(
            MigrationJobStep(
                type=each.type,
                is_true=each.is_true,
                reason=each.reason,
                at=each.transitioned_at,
            )
            for each in job.conditions
        ),
        notes=tuple(_notes(job, pod, snapshot, now)),
    )


def _pod_of(job: MigrationJob, snapshot: Snapshot) -> Pod | None:
    """The pod of that name, and of that uid where one is stated."""
    wanted = (job.pod_namespace, job.pod_name)
    found = next((pod for pod in snapshot.pods if (pod.namespace, pod.name) == wanted), None)
    return found if found is not None and job.pod_uid in ("", found.uid) else None


def _notes(job: MigrationJob, pod: Pod | None, snapshot: Snapshot, now: datetime) -> Iterator[str]:
    if job.has_ended:
        return
    if job.is_terminating:
        yield "it is being deleted"
    if not job.is_live:
        yield f"its phase {job.phase} is not known"
    if job.is_paused:
        yield "it is paused (spec.paused): nothing happens, and its time limit does not count"
    elif job.is_over_time(now):
        yield "its time limit is over (spec.ttl): the controller ends it as Failed"
    elif job.is_waiting:
        yield "it waits for arbitration: limits on migrations, or filters of MigrationController, hold it back"
    yield from _notes_on_pod(job, pod, snapshot)
    if job.reservation_name:
        yield from _notes_on_reservation(job, snapshot)


def _notes_on_pod(job: MigrationJob, pod: Pod | None, snapshot: Snapshot) -> Iterator[str]:
    key = f"{job.pod_namespace}/{job.pod_name}"
    if pod is None:
        is_other = any(each.key == key for each in snapshot.pods)
        why = "has another uid: it was created again" if is_other else "does not exist (any more)"
        yield f"the pod {key} {why}"
    elif pod.is_terminal:
        yield f"the pod {key} has finished"
    elif pod.is_terminating:
        yield f"the pod {key} is being deleted"
    others = [
        each.name
        for each in snapshot.migration_jobs
        if each.name != job.name
        and each.is_live
        and (each.pod_namespace, each.pod_name) == (job.pod_namespace, job.pod_name)
    ]
    if others:
        yield f"other PodMigrationJobs name the same pod: {', '.join(others[:3])}"


def _notes_on_reservation(job: MigrationJob, snapshot: Snapshot) -> Iterator[str]:
    name = job.reservation_name
    found = next((each for each in snapshot.reservations if each.name == name), None)
    if job.mode == JobMode.EVICT_DIRECTLY:
        yield f"Reservation {name} has no effect with mode {job.mode}"
    elif found is None:
        yield f"Reservation {name} does not exist"
    else:
        yield f"Reservation {name} is {_state(found)}"


def _state(found: Reservation) -> str:
    return f"{found.phase or 'Pending'} on node {found.node_name}" if found.node_name else found.phase or "Pending"


def _table(job: MigrationJobExplanation, style: TableStyle) -> Iterator[str]:
    """Which pod moves and how, how far that has come, and what is in its way."""
    yield from style.heading(printable(f"PodMigrationJob {job.name}"))
    row = [job.pod.namespace, job.pod.name, job.node or "", job.mode or "default", _time(job.ends_at) or "never"]
    yield from style.table(["NAMESPACE", "POD", "NODE", "MODE", "TIME LIMIT"], [row])
    replacement = "" if job.replacement is None else f"{job.replacement.namespace}/{job.replacement.name}"
    row = [f"{job.phase}, paused" if job.is_paused else job.phase, job.condition, job.reason]
    yield from style.table(["PHASE", "STATUS", "REASON"], [row])
    yield from style.labelled({"Reservation": printable(job.reservation or ""), "Replacement": printable(replacement)})
    if job.reservation or replacement:
        yield ""
    rows = [[each.type, str(each.is_true), each.reason, _time(each.at)] for each in job.steps]
    yield from style.table(["CONDITION", "TRUE", "REASON", "SINCE"], rows)
    yield from style.notes(job.notes)


def _time(instant: datetime | None) -> str:
    return "" if instant is None else f"{instant:%Y-%m-%dT%H:%M:%SZ}"


SUBJECT = Explained(
    MigrationJobExplanation, lambda asked: Answer(_explain(asked.name, asked.snapshot, asked.now)), _table
)
