"""Jobs that are created and changed whatever is answered: where that says nothing they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from descheduler.kube.errors import may_have_acted
from descheduler.kube.objects import ObjectCalls
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import ExchangeError, TransportError


class CreationUnclear(ExchangeError):  # noqa: N818 - a state callers act on, named after what it says
    """A job was not found after its creation, which may have its effect all the same."""


def create_surely(
    objects: ObjectCalls, list_path: str, body: Mapping[str, Any], decode: Callable[[bytes], MigrationJob]
) -> MigrationJob:
    """The new job, by one call and a look at it where that had no clear answer. Raises CreationUnclear."""
    try:
        created = objects.create(list_path, body, decode)
    except ExchangeError as error:
        if not may_have_acted(error):
            raise
        return _found(objects, list_path, body, decode, error)
    if created is not None and _is_whole(created):
        return created
    return _found(objects, list_path, body, decode, None)


def patch_surely(
    objects: ObjectCalls,
    path: str,
    body: Mapping[str, Any],
    decode: Callable[[bytes], MigrationJob],
    is_done: Callable[[MigrationJob], bool],
    *,
    subresource: str = "",
) -> MigrationJob | None:
    """The job at `path` after the patch `body` of it, or of its `subresource`.

    None when it is gone, or has another resource version. Where the patch had no clear answer, a look at the job tells
    whether it `is_done`, or cannot be done any more as the resource version is another one. Raises ExchangeError
    where it may yet be done.
    """
    try:
        patched = objects.patch(path + subresource, body, decode)
    except ExchangeError as error:
        if not may_have_acted(error):
            raise
        unclear = error
    else:
        if patched is None or _is_whole(patched):
            return patched
        unclear = TransportError(f"PATCH {path}: the answer is not the job that was asked for")
    found = objects.read(path, decode)
    if found is None or is_done(found):
        return found
    if found.resource_version != body["metadata"]["resourceVersion"]:
        return None
    raise unclear


def _is_whole(job: MigrationJob) -> bool:
    """Whether an answer holds what the next write states as its preconditions."""
    return bool(job.uid and job.resource_version)


def _found(
    objects: ObjectCalls,
    list_path: str,
    body: Mapping[str, Any],
    decode: Callable[[bytes], MigrationJob],
    error: ExchangeError | None,
) -> MigrationJob:
    kind, name, why = body["kind"], body["metadata"]["name"], f": {error}" if error else ""
    try:
        found = objects.read(f"{list_path}/{name}", decode)
    except ExchangeError as unread:
        raise CreationUnclear(f"{kind} {name} may have been created or not, and cannot be read: {unread}") from error
    if found is None or not _is_whole(found):
        raise CreationUnclear(f"{kind} {name} could not be created: no answer came, and it does not exist{why}")
    return found
