"""Units: pods that a scheduler places together, such as the members of a gang.

Most pods are a unit of their own, and are placed without any of this. A scheduler says by `unit_of` which pods are not.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import Attempt

__all__ = ["Unit", "UnitAttempt", "priority_of", "queue_order"]

_LAST = datetime.max.replace(tzinfo=UTC)


def priority_of(pod: Pod) -> int:
    """The priority by which the scheduler orders its queue; none given is 0."""
    return pod.priority or 0


def queue_order(pod: Pod) -> tuple[int, datetime, str]:
    """What PrioritySort sorts by: higher priority first, then age."""
    return -priority_of(pod), pod.created_at or _LAST, pod.key


class Unit(msgspec.Struct, frozen=True):
    """Pods that exist without a node, and that are tried one after the other in this order. There is one at least."""

    pods: tuple[Pod, ...]

    @property
    def priority(self) -> int:
        """The priority of the first pod."""
        return priority_of(self.pods[0])


class UnitAttempt(msgspec.Struct, frozen=True):
    """What came of one try of a unit: the tries of its first pods, in order.

    They end with the pod at which those that had been placed could be bound: these have a placement, and what is left
    of the unit may be tried as one of its own. Where that never came, none of them has one, and `evaluation` says of
    those that fit what they wait for.
    """

    attempts: tuple[Attempt, ...]

    @property
    def is_bound(self) -> bool:
        """Whether any pod of the unit is bound."""
        return any(attempt.placement is not None for attempt in self.attempts)
