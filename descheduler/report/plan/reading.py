"""Reads plan files, which anybody can have written: whatever is wrong with one is a sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

import msgspec
from msgspec.structs import astuple

from descheduler.report.document import API_VERSION
from descheduler.report.identities import shard_of
from descheduler.report.plan.document import Plan
from descheduler.report.plan.figures import NUM_STEPS, GroupFigures, NodeFigures, TotalFigures
from descheduler.report.plan.file import PlanFile

Decoded = TypeVar("Decoded")
Source = Path | Literal["-"]
"""A file; - is the standard input of the process."""

MOST_BYTES = 256 * 2**20
"""More than the plan of a cluster with 150,000 pods takes."""

_LONGEST_CAUSE = 300
_MOST_NODES = 300_000
"""Of all resources together; far more than a cluster has."""
_MOST_OF_A_RESOURCE = 1 << 63
"""Quantities of Kubernetes are 64 bits long."""
_PLAN_FILE = "plan file of 'descheduler plan --out'"


class PlanFileError(ValueError):
    """A file that is no plan which this program can apply; the message names the file and says why."""


class _Head(msgspec.Struct, rename="camel"):
    api_version: object = None
    kind: object = None


_decode_plan_file = msgspec.json.Decoder(PlanFile).decode
_decode_plan = msgspec.json.Decoder(Plan).decode
_decode_head = msgspec.json.Decoder(_Head).decode


def read_plan_file(source: Source) -> PlanFile:
    """The plan file in `source`, to be applied. Raises PlanFileError."""
    path, content = _shown(source), _content(source)
    head = _head(path, content)
    if head.kind == "Plan":
        raise PlanFileError(f"{path}: is the document of a dry run; make a plan file with 'descheduler plan --out'")
    return _plan_file(path, content, head)


def read_plan(source: Source) -> Plan:
    """The plan in `source`, to be looked at: out of a plan file, or the document of a dry run. Raises PlanFileError."""
    path, content = _shown(source), _content(source)
    head = _head(path, content)
    if head.kind != "Plan":
        plan = _plan_file(path, content, head).plan
        _check_pictured(path, plan)
        return plan
    _check_version(path, head)
    plan = _decoded(path, content, _decode_plan, "document of a dry run with -o json")
    _check_shard(path, plan)
    _check_pictured(path, plan)
    return plan


def _shown(source: Source) -> str:
    return "standard input" if source == "-" else str(source)


def _content(source: Source) -> bytes:
    path = _shown(source)
    try:
        with _opened(source) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PlanFileError(f"{path}: cannot be read: {(error.strerror or 'input failed').lower()}") from error
    if len(content) > MOST_BYTES:
        raise PlanFileError(f"{path}: is larger than {MOST_BYTES // 2**20} MiB and is not a plan file")
    return content


@contextmanager
def _opened(source: Source) -> Iterator[BinaryIO]:
    if source != "-":
        with source.open("rb") as file:
            yield file
    elif sys.stdin is None:
        raise PlanFileError("standard input: is closed; pipe a plan into it")
    else:
        yield sys.stdin.buffer


def _head(path: str, content: bytes) -> _Head:
    return _decoded(path, content, _decode_head, _PLAN_FILE)


def _plan_file(path: str, content: bytes, head: _Head) -> PlanFile:
    if head.kind == "PlanFile":
        _check_version(path, head)
    file = _decoded(path, content, _decode_plan_file, _PLAN_FILE)
    _check_shard(path, file.plan)
    _check_moves(path, file)
    return file


def _decoded(path: str, content: bytes, decode: Callable[[bytes], Decoded], what: str) -> Decoded:
    try:
        return decode(content)
    except (ValueError, RecursionError) as error:
        cause = str(error)[:_LONGEST_CAUSE] or type(error).__name__
        raise PlanFileError(f"{path}: is not a {what}: {cause}") from error


def _check_version(path: str, head: _Head) -> None:
    """Says first what somebody may have mistaken it for."""
    if head.api_version != API_VERSION:
        version = repr(head.api_version)[:_LONGEST_CAUSE]
        raise PlanFileError(f"{path}: has apiVersion {version}, this program applies {API_VERSION}; plan again")


def _check_shard(path: str, plan: Plan) -> None:
    try:
        shard_of(plan.snapshot.shard)
    except ValueError as error:
        raise PlanFileError(f"{path}: {error}; the file was changed") from error


def _check_pictured(path: str, plan: Plan) -> None:
    """What pictures rest on: the pods of workloads are moved, and no more nodes are drawn than a cluster has."""
    moved = {move.pod for move in plan.moves}
    if not all(pod in moved for workload in plan.workloads for pod in workload.pods):
        raise PlanFileError(f"{path}: a workload has a pod that is not moved; the file was changed")
    steps = [numbers for group in plan.figures.groups for numbers in group.unchanged.values()]
    is_sound = all(len(numbers) == NUM_STEPS and min(numbers) >= 0 for numbers in steps)
    if not is_sound or sum(map(sum, steps)) > _MOST_NODES:
        raise PlanFileError(f"{path}: figures.groups do not hold the nodes of a cluster; the file was changed")
    figures = plan.figures
    places: list[NodeFigures | GroupFigures | TotalFigures] = [*figures.nodes, *figures.groups, figures.total]
    amounts = [amount for each in places for amount in (each.before, each.after, each.allocatable)]
    amounts += [figures.total.displaced, figures.total.landing]
    if not all(0 <= number < _MOST_OF_A_RESOURCE for each in amounts for number in astuple(each)):
        raise PlanFileError(f"{path}: figures have an amount that no node can have; the file was changed")


def _check_moves(path: str, file: PlanFile) -> None:
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
