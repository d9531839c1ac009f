"""Units: pods that a scheduler places together, such as the members of a gang.

Most pods are a unit of their own, and are placed without any of this. A scheduler says by `unit_of` which pods are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import SchedulerModel
from descheduler.placement.framework.feasibility import Attempt, Picker, put_on_node
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.shadow.shadow_cluster import Company, Ledger, ShadowCluster

__all__ = ["Unit", "UnitAttempt", "place_unit", "priority_of", "queue_order"]

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


def place_unit(
    scheduler: SchedulerModel, cluster: ShadowCluster, unit: Unit, pick: Picker, ledgers: Sequence[Ledger[Any]] = ()
) -> UnitAttempt:
    """Places pods of `unit` on `cluster` until nothing keeps them back any more, and leaves them there.

    Pods that fit nowhere are passed over: the scheduler tries the unit again, in whatever order, until those that are
    placed first are enough.
    """
    company = Company(unit.pods)
    attempts: list[Attempt] = []
    waits: tuple[Obstacle, ...] = ()
    with cluster.what_if() as trial:
        for pod in unit.pods:
            evaluation = scheduler.evaluate(pod, company)
            choice = evaluation.choose()
            if choice is None:
                attempts.append(Attempt(evaluation))
                continue
            node = pick(evaluation, choice)
            waits = scheduler.permits(evaluation.cycle, node)
            attempts.append(Attempt(evaluation, put_on_node(scheduler, evaluation, node, choice, ledgers)))
            company.held.append(pod)
            if not waits:
                trial.keep()
                return UnitAttempt(tuple(attempts))
    return UnitAttempt(tuple(_held_back(scheduler, attempt, waits) for attempt in attempts))


def _held_back(scheduler: SchedulerModel, attempt: Attempt, waits: tuple[Obstacle, ...]) -> Attempt:
    """The try of a pod whose unit is not bound: one that fits is kept by what the unit waits for."""
    if attempt.placement is None:
        return attempt
    return Attempt(scheduler.refused(attempt.evaluation.cycle, waits))
