"""What a controller is asked about: an evicted pod, its owner, and the pods of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.model.text.whole_number import whole_number
from descheduler.model.workloads import Workload

__all__ = ["ORDINARY_ENDING", "Ending", "Situation", "is_living", "ordinal_of"]


class Ending(msgspec.Struct, frozen=True):
    """How an evicted pod ends. `exit_code` is None for one that never gets a terminal phase, as on a lost node.

    `stops` is False for one that goes on terminating.
    """

    exit_code: int | None = 143
    stops: bool = True


ORDINARY_ENDING = Ending()
"""The ending of a process which has no handler for SIGTERM."""


class Situation(msgspec.Struct, frozen=True):
    """An eviction of `victim`, which `workload` controls.

    `pods` are all pods of the workload in the snapshot; `num_living` of them have neither finished nor begun to go.
    `gone` are those that were evicted before it, which have left; `mates` leave with it as one bundle, all or none.
    `now` is None where the time is unknown.
    """

    victim: Pod
    workload: Workload
    pods: Sequence[Pod]
    num_living: int
    gone: Sequence[Pod]
    snapshot: Snapshot
    now: datetime | None = None
    ending: Ending = ORDINARY_ENDING
    mates: Sequence[Pod] = ()

    @property
    def name(self) -> str:
        """What operators call the owner, such as `Job sum`."""
        return f"{self.workload.kind} {self.workload.name}"

    def others(self) -> Iterator[Pod]:
        """The pods of the workload that run on or wait for a node, without the victim and those that are gone."""
        left = {id(self.victim), *map(id, self.gone)}
        return (pod for pod in self.pods if id(pod) not in left and is_living(pod))


def is_living(pod: Pod) -> bool:
    """Whether controllers count the pod as one that there is: it has neither finished nor begun to go."""
    return not pod.is_terminal and not pod.is_terminating


def ordinal_of(pod: Pod) -> int | None:
    """The number at the end of a pod's name."""
    return _ordinal(pod.name)


@lru_cache(maxsize=1 << 16)  # asked again for each pod of a set, about all pods of the set
def _ordinal(name: str) -> int | None:
    return whole_number(name.rpartition("-")[2])
