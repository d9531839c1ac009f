"""What a controller is asked about an evicted pod, and what it does then: the one value that all who ask read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum
from functools import cached_property, lru_cache
from typing import Literal, TypeVar, cast

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import PodRevision, Workload
from descheduler.model.pod import Pod
from descheduler.model.text.numbers import whole_number

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


class Returns(Enum):
    """When and where the owner creates a pod for the evicted one, or that it does not."""

    AT_ONCE = "at once"
    """As soon as the evicted pod is terminating."""
    WHEN_GONE = "when gone"
    """Once the evicted pod has finished, or its object is gone."""
    LATER = "later"
    """After a back-off, or once something else has happened."""
    OWN_NODE = "on its own node"
    """For the node of the evicted pod, and for no other."""
    NOT_CREATED = "not created"
    """Nothing comes, and the owner goes on without the pod."""
    OWNER_ENDS = "owner ends"
    """Nothing comes, because the owner, or its part that the pod was, fails or ends."""


class OwnerEnd(msgspec.Struct, frozen=True):
    """How a Job ends: the condition that it gets, and the reason of that; the action of a policy for one of Volcano."""

    condition: Literal["Failed", "Complete"]
    reason: str


class OwnerAnswer(msgspec.Struct, frozen=True):
    """What comes after an eviction. Sentences have no full stop; those that do not apply are empty.

    `is_early` says that the pod comes while the evicted one is terminating. `conditions` must hold before it comes, or
    before one comes that was evicted earlier. `delay_seconds` is a back-off. `doubt` says why it is unknown whether it
    comes, in the same words for all pods that it concerns. `cause` says why nothing comes, `loss` what is lost with the
    pod where the owner fails or ends. `end` is how a Job ends at once or shortly after, None where it goes on;
    `failed_index` is the one of a Job that fails, and `is_counted` says that the eviction counts against a limit of
    failures. `node` is the one that the pod is for, "" where the scheduler chooses. `has_same_name` says that the pod
    has the name of the evicted one. `revision` is the template that it is made from, None for the present one of the
    owner; `like` is a live pod of the revision, where its template is not in the snapshot. `notes` are for the
    operator.
    """

    returns: Returns
    is_early: bool = False
    conditions: tuple[str, ...] = ()
    delay_seconds: int = 0
    doubt: str = ""
    cause: str = ""
    loss: str = ""
    end: OwnerEnd | None = None
    failed_index: int | None = None
    is_counted: bool = False
    node: str = ""
    has_same_name: bool = False
    revision: PodRevision | None = None
    like: Pod | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_created(self) -> bool:
        """Whether a pod comes, as far as the owner is concerned."""
        return self.returns not in (Returns.NOT_CREATED, Returns.OWNER_ENDS)


def not_created(cause: str) -> OwnerAnswer:
    """Nothing comes, for this cause."""
    return OwnerAnswer(Returns.NOT_CREATED, cause=cause)


BARE = not_created("no controller recreates the pod")
