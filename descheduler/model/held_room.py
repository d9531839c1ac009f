"""Room that is held for one pod where others leave first."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.pod import Pod

__all__ = ["HeldRoom"]


class HeldRoom(NamedTuple):
    """Room on `node`, where others leave first: held for `pod`, if it is pending, else for its replacement."""

    pod: Pod
    node: str
