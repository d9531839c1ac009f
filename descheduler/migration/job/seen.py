"""What is seen of a job: its pod, the room that is held for the replacement, and the replacement."""

from __future__ import annotations

from enum import Enum

import msgspec

from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod


class RoomState(Enum):
    """How far the room is that is held for a replacement."""

    ABSENT = "absent"
    """Nothing holds any."""
    PENDING = "pending"
    """The scheduler has not said anything yet."""
    UNSCHEDULABLE = "unschedulable"
    """The scheduler found no node for it; it may yet."""
    HELD = "held"
    """There is room on a node, and no pod uses it."""
    YIELDED = "yielded"
    """It was given up for the replacement, which has no node yet."""
    TAKEN = "taken"
    """A pod uses it."""
    MISSED = "missed"
    """The replacement has a node, and does not use it."""
    EXPIRED = "expired"
    """It was held for so long that it was given up."""
    LOST = "lost"
    """It ended in another way, without a node or a user."""

    @property
    def is_unplaced(self) -> bool:
        """Whether it waits for a node."""
        return self in {RoomState.PENDING, RoomState.UNSCHEDULABLE}


class Miss(Enum):
    """Why a replacement does not use the room that is held for it."""

    TAKEN = "taken"
    """A pod that came in place of no evicted one was quicker."""
    UNUSED = "unused"
    """It runs where the room is, and beside it: its scheduler does not note who uses a Reservation."""
    ELSEWHERE = "elsewhere"
    """Its scheduler chose another node."""


class Room(msgspec.Struct, frozen=True):
    """What is held for one job, on `node` once that is known; `message` is the scheduler's word.

    `is_for_the_pod` says that it is meant for the very pod of the job, which waits for a node, and not for a successor.
    What `is_left_over` has to be given back as soon as the replacement has a node. Of room that the replacement has
    missed, `miss` says why and `taken_by` is the replacement all the same.
    """

    state: RoomState
    node: str = ""
    message: str = ""
    taken_by: ObjectReference | None = None
    is_for_the_pod: bool = False
    is_left_over: bool = False
    miss: Miss | None = None


ABSENT = Room(RoomState.ABSENT)


class Scale(msgspec.Struct, frozen=True):
    """What is seen of the workload that a job has planned to surge: its `replicas`, None when it is gone.

    `is_raised` says that they are raised by this job and not set since; `is_available` that as many pods
    serve. `obstacle` is what blocks raising them now, "" while nothing does.
    """

    replicas: int | None = None
    is_raised: bool = False
    is_available: bool = False
    obstacle: str = ""


UNSEEN = Scale()


class Seen(msgspec.Struct, frozen=True):
    """What is seen of one job. `pod` is the pod that has the name now, of whichever UID.

    `scale` is seen of jobs with a planned surge alone.

    `replacement` is the pod that has taken the room or is known to want it, as it is now; None while there is none, or
    when it is gone.
    """

    pod: Pod | None
    room: Room = ABSENT
    replacement: Pod | None = None
    scale: Scale = UNSEEN
