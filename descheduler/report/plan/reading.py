"""Reads plan files, which anybody can have written: whatever is wrong with one is a sentence."""

from __future__ import annotations

from pathlib import Path

import msgspec

from descheduler.report.document import API_VERSION
from descheduler.report.plan.file import PlanFile

__all__ = ["MOST_BYTES", "PlanFileError", "read_plan_file"]

MOST_BYTES = 256 * 2**20
"""More than the plan of a cluster with 150,000 pods takes."""

_LONGEST_CAUSE = 300


class PlanFileError(ValueError):
    """A file that is no plan which this program can apply; the message names the file and says why."""


class _Head(msgspec.Struct, rename="camel"):
    api_version: object = None
    kind: object = None


_decode_plan = msgspec.json.Decoder(PlanFile).decode


_decode_head = msgspec.json.Decoder(_Head).decode


def read_plan_file(path: Path) -> PlanFile:
    """The plan in `path`. Raises PlanFileError."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PlanFileError(f"{path}: cannot be read: {(error.strerror or 'input failed').lower()}") from error
    if len(content) > MOST_BYTES:
        raise PlanFileError(f"{path}: is larger than {MOST_BYTES // 2**20} MiB and is not a plan file")
    try:
        _check_head(path, _decode_head(content))
        file_ = _decode_plan(content)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlanFileError):
            raise
        cause = str(error)[:_LONGEST_CAUSE] or type(error).__name__
        raise PlanFileError(f"{path}: is not a plan file of 'descheduler plan --out': {cause}") from error
    _check_moves(path, file_)
    return file_


def _check_head(path: Path, head: _Head) -> None:
    """Says first what somebody may have mistaken it for."""
    if head.kind == "Plan":
        raise PlanFileError(f"{path}: is the document of a dry run; make a plan file with 'descheduler plan --out'")
    if head.kind == "PlanFile" and head.api_version != API_VERSION:
        version = repr(head.api_version)[:_LONGEST_CAUSE]
        raise PlanFileError(f"{path}: has apiVersion {version}, this program applies {API_VERSION}; plan again")


def _check_moves(path: Path, file: PlanFile) -> None:
    """Every move has its basis, each pod leaves once, and room is held for each once."""
    uids = [move.pod.uid for move in file.plan.moves]
    if uids != [basis.uid for basis in file.bases]:
        raise PlanFileError(f"{path}: moves and bases are not of the same pods; the file was changed")
    if len(set(uids)) < len(uids) or not all(uids):
        raise PlanFileError(f"{path}: a pod has no UID or is moved twice; the file was changed")
    waiting = [room.pod.uid for move in file.plan.moves for room in move.room_for]
    if len(set(waiting)) < len(waiting) or not all(waiting):
        raise PlanFileError(f"{path}: a pod in roomFor has no UID or is named twice; the file was changed")
    for basis in file.bases:
        served = [pod.uid for pod in basis.serves if pod.uid]
        if len(set(served)) < len(served):
            raise PlanFileError(f"{path}: a pod is named twice in serves; the file was changed")
