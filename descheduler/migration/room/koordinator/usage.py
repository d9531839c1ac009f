"""Whether the replacement of a pod uses the Reservation that holds its room, and what it does otherwise.

koord-scheduler names the Reservation in an annotation of the pod that uses it, but only where the plugin Reservation
is enabled under `reserve` in its profile: the manifest that koordinator 1.8 ships lacks that. The Reservation is never
used up then, and holds room beside the replacement.
"""

from __future__ import annotations

import msgspec

from descheduler.migration.job.seen import Miss, Room, RoomState
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod

__all__ = ["missed", "reservation_used", "used"]


class _Allocated(msgspec.Struct):
    name: str | None = None


_decode = msgspec.json.Decoder(_Allocated).decode


def reservation_used(pod: Pod) -> str:
    """The name of the Reservation that `pod` says it uses, "" for none."""
    try:
        return _decode(pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION) or "{}").name or ""
    except (ValueError, RecursionError):
        return ""


def used(job: MigrationJob, pod: Pod) -> Room:
    """The room of `job`, which its replacement `pod` uses."""
    return Room(RoomState.TAKEN, pod.node_name, taken_by=_reference(pod))


def missed(job: MigrationJob, pod: Pod, miss: Miss, *, is_left_over: bool) -> Room:
    """The room of `job`, which its replacement `pod` does not use although it has a node."""
    name, where = job.reservation_name, f"replacement {pod.key} runs on node {pod.node_name}"
    match miss:
        case Miss.TAKEN:
            why = f"another pod of its workload used Reservation {name}; {where}"
        case Miss.UNUSED:
            profile = pod.spec.scheduler_name
            why = (
                f"{where} and does not use Reservation {name}: in the configuration of {profile}, enable the plugin "
                "Reservation under plugins.reserve"
            )
        case Miss.ELSEWHERE:
            why = f"{where}, not on {job.node_name} (Reservation {name})"
    return Room(RoomState.MISSED, job.node_name, why, _reference(pod), is_left_over=is_left_over, miss=miss)


def _reference(pod: Pod) -> ObjectReference:
    return ObjectReference(pod.namespace, pod.name, pod.uid)
