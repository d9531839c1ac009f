"""What holds room for jobs that are no more: what is ours is removed, what only looks like ours is told and left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.migration.room.labels import OWNER_LABEL
from descheduler.model.koordinator.migration_job import MigrationJob


class KnownJobs(msgspec.Struct, frozen=True):
    """The jobs that there are, by UID, as far as the room of each goes.

    The room of `live` ones is needed, or may be. `over` are those of this program, or carried out by it, that have
    ended; `foreign` are those of others. A job that is none of these is no more.
    """

    live: AbstractSet[str]
    over: Mapping[str, MigrationJob]
    foreign: AbstractSet[str]


class LabelledObject(msgspec.Struct, frozen=True):
    """An object with our label. `differs` says what tells it from one of ours, "" where nothing does.

    `kind` and `name` are for people, `path` and `uid` for its removal.
    """

    kind: str
    name: str
    path: str
    uid: str
    job_uid: str
    differs: str


class Swept(msgspec.Struct, frozen=True):
    """Names of what was `removed`; what was left alone although it looks like ours, or could not be removed."""

    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def sweep(
    found: Iterable[LabelledObject],
    jobs: KnownJobs,
    owner: str,
    delete: Callable[[LabelledObject], bool],
    differs_from: Callable[[LabelledObject, MigrationJob], str] = lambda candidate, job: "",
) -> Swept:
    """Removes those of `found` that are ours and whose job is over, by `delete`; `owner` is the value of our label.

    `differs_from` says what tells one from the room of the job that it names, which has ended. Raises ExchangeError,
    but not for a right that is missing.
    """
    removed, notes = list[str](), list[str]()
    for each in found:
        if why := each.differs or _why_not_of(each, jobs, differs_from):
            notes.append(f"{each.kind} {each.name} has the label {OWNER_LABEL}={owner} and was left alone: {why}")
        elif each.job_uid not in jobs.live:
            with noting_forbidden(notes, f"{each.kind} {each.name} of an earlier run could not be removed"):
                if delete(each):
                    removed.append(each.name)
    return Swept(tuple(removed), tuple(notes))


@contextmanager
def noting_forbidden(notes: list[str], what: str) -> Iterator[None]:
    """Notes a right that is missing: a single object for which the run has none does not end the run."""
    try:
        yield
    except ApiError as error:
        if not error.is_forbidden:
            raise
        notes.append(f"{what}: {error}")


def _why_not_of(
    each: LabelledObject, jobs: KnownJobs, differs_from: Callable[[LabelledObject, MigrationJob], str]
) -> str:
    if each.job_uid in jobs.foreign:
        return f"the job with UID {each.job_uid} is not of this program"
    job = jobs.over.get(each.job_uid)
    return "" if job is None else differs_from(each, job)
