"""What a controller is asked about: an evicted pod, its owner, and the pods of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TypeVar, cast

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.text.whole_number import whole_number

__all__ = ["ORDINARY_ENDING", "Ending", "Members", "Situation", "is_living", "ordinal_of"]

_Found = TypeVar("_Found")


class Ending(msgspec.Struct, frozen=True):
    """How an evicted pod ends. `exit_code` is None for one that never gets a terminal phase, as on a lost node.

    `stops` is False for one that goes on terminating.
    """

    exit_code: int | None = 143
    stops: bool = True


ORDINARY_ENDING = Ending()
"""The ending of a process which has no handler for SIGTERM."""


class Members:
    """All pods of `workload` in a snapshot, taken `now`; None where the time is unknown.

    A controller is asked about each of them in turn: what it asks of all of them is found `once`.
    """

    def __init__(self, workload: Workload, pods: Sequence[Pod], now: datetime | None) -> None:
        self.workload, self.pods, self.now = workload, pods, now
        self._found: dict[Callable[[Members], object], object] = {}

    def once(self, find: Callable[[Members], _Found]) -> _Found:
        """What `find` says of them."""
        if find not in self._found:
            self._found[find] = find(self)
        return cast("_Found", self._found[find])

    @cached_property
    def num_living(self) -> int:
        """How many of them have neither finished nor begun to go."""
        return sum(map(is_living, self.pods))


class Situation(msgspec.Struct, frozen=True):
    """An eviction of `victim`, one of the `members` of its workload.

    `gone` are those that were evicted before it, which have left; `mates` leave with it as one bundle, all or none.
    """

    victim: Pod
    members: Members
    gone: Sequence[Pod]
    snapshot: Snapshot
    ending: Ending = ORDINARY_ENDING
    mates: Sequence[Pod] = ()

    @property
    def workload(self) -> Workload:
        """The controller of the pod."""
        return self.members.workload

    @property
    def pods(self) -> Sequence[Pod]:
        """All pods of the workload in the snapshot."""
        return self.members.pods

    @property
    def now(self) -> datetime | None:
        """The time of the snapshot; None where it is unknown."""
        return self.members.now

    @property
    def name(self) -> str:
        """What operators call the owner, such as `Job sum`."""
        return f"{self.workload.kind} {self.workload.name}"

    @property
    def is_alone(self) -> bool:
        """Whether no other pod of the workload is left that runs on or waits for a node."""
        return self.members.num_living <= sum(map(is_living, (self.victim, *self.gone)))


def is_living(pod: Pod) -> bool:
    """Whether controllers count the pod as one that there is: it has neither finished nor begun to go."""
    return not pod.is_terminal and not pod.is_terminating


def ordinal_of(pod: Pod) -> int | None:
    """The number at the end of a pod's name."""
    return _ordinal(pod.name)


@lru_cache(maxsize=1 << 16)  # asked again for each pod of a set, about all pods of the set
def _ordinal(name: str) -> int | None:
    return whole_number(name.rpartition("-")[2])
