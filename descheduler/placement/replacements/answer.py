"""What the owner of a pod does once the pod is evicted: the one value that all who ask read."""

from __future__ import annotations

from enum import Enum
from typing import Literal

import msgspec

from descheduler.model.groups.workloads import PodRevision
from descheduler.model.pod import Pod

__all__ = ["BARE", "OwnerAnswer", "OwnerEnd", "Returns", "not_created"]


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
