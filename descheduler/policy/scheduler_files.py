"""Scheduler configurations and lists of nodes that a policy names by file: read once, together with the policy.

What a configuration says hangs on the version of the scheduler, which only the cluster may tell, so that the document
is kept and `scheduler_configuration` makes sense of it later without reading anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from descheduler.documents.document import Document
from descheduler.documents.source import digest_of, read_document, read_lines

__all__ = ["ReadSchedulerFile", "SchedulerFile", "scheduler_file_reader"]


class SchedulerFile(msgspec.Struct, frozen=True):
    """One file as it was when the policy was read; `path` is how the policy spells it."""

    path: str
    document: Document
    digest: str
    """SHA-256 of the document, independent of layout, comments and the order of keys."""


class ReadSchedulerFile(Protocol):
    """Reads the files that a policy names."""

    def __call__(self, path: str, *, lists_nodes: bool = False) -> SchedulerFile:
        """The file at a path, of which each line is a name where it `lists_nodes`. Raises PolicyError without one."""


def scheduler_file_reader(files: dict[str, SchedulerFile], folder: Path | None = None) -> ReadSchedulerFile:
    """A reader that looks into `files` first and keeps there what it reads, so that a run knows one content of each.

    A path that is not absolute starts from `folder`, that of the policy file: symbolic links are not followed for that,
    as the files of a mounted ConfigMap are links into a folder that changes. Without one, for a policy that came in no
    file, it starts from the working directory.
    """

    def read(path: str, *, lists_nodes: bool = False) -> SchedulerFile:
        if path not in files:
            place = Path(path) if folder is None else folder / path
            name = path if str(place) == path else f"{path} (relative to the policy file: {place})"
            read_one, noun = (read_lines, "node list") if lists_nodes else (read_document, "scheduler configuration")
            document = read_one(place, name, noun)
            files[path] = SchedulerFile(path, document, digest_of(document))
        return files[path]

    return read
