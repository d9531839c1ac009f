"""Room that is there once others have left."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.pod import Pod

__all__ = ["PendingRoom"]


class PendingRoom(NamedTuple):
    """Room on `node`, where others leave first, that is held for `pod` or, if that runs, for its replacement."""

    pod: Pod
    node: str
