"""Room that is held for pods where others leave first."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.pod import Pod


class HeldRoom(NamedTuple):
    """Room on `node`, where others leave first: held for `pod`, if it is pending, else for its replacement."""

    pod: Pod
    node: str


class HeldRooms(NamedTuple):
    """What is held when a pod leaves: room `on` a node for its replacement, "" for none, and `rooms` for others."""

    on: str = ""
    rooms: tuple[HeldRoom, ...] = ()


NOTHING_HELD = HeldRooms()
