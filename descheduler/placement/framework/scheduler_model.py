"""The seam of all schedulers: what may be asked of whoever places pods, with plugins of a profile or without.

A model answers by evaluations, which are asked for anything further. A subclass writes `evaluate`, `choose`, `obstacle`
and what else it does otherwise than the bodies here, which are cautious: they claim nothing that a proof could rest on.

Pods that a scheduler places together, such as the members of a gang, are a unit. Most pods are a unit of their own, and
are placed without any of this. A scheduler says by `unit_of` which pods are not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import Attempt, Picker, first_of_ties, put_on_node
from descheduler.placement.framework.evaluation import Evaluator, PodEvaluation
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.interactions import Interplay
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.framework.scheduling_plugin import Compares, Preference
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, Ledger, ShadowCluster

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


ArgsType = TypeVar("ArgsType")


class DoubtOf(Enum):
    """What may be unknown of a scheduler's answer."""

    LANDING = "whether a node takes the pod"
    CHOICE = "which of several nodes it gets"
    ORDER = "who is tried before it"
    PREEMPTION = "who is evicted for it where it fits nowhere"


class EvictedFor(NamedTuple):
    """The pods that a scheduler evicts for another one, which then gets a node, and what it calls that."""

    node: int
    pods: tuple[Pod, ...]
    what: str


class SchedulerModel(Evaluator, Interplay, Protocol):
    """Whoever places the pods of one scheduler name, over one shadow cluster."""

    name: str
    cluster: ShadowCluster
    reorders: bool = False
    """Whether its order depends on what it has placed, so that it asks again who is next."""
    holds_nominated: bool = True
    """Whether a pod with `nominatedNodeName` holds its room on that node."""
    evaluation_cost: int = 1
    """What one evaluation costs, where one by filters of nodes alone costs 1: searches are bounded by it."""

    @abstractmethod
    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        """Why it is unknown what the scheduler does with `pod`, or an empty string: the same words for every pod that
        it concerns."""

    def assumed(self) -> tuple[str, ...]:
        """The assumptions on which its answers rest, each a sentence."""
        return ()

    def order(self, units: Iterable[Unit]) -> Sequence[Unit]:
        """`units` as they are tried, by priority; equal ones stay in the order given, which is by age."""
        return sorted(units, key=lambda unit: -unit.priority)

    def next_of(self, units: Sequence[Unit]) -> Unit:
        """The first of `units` by its order, as the cluster is now."""
        return self.order(units)[0]

    def unit_of(self, pod: Pod) -> str:
        """What pods share that it places together, as the cluster is now; empty for a pod that it places alone."""
        return ""

    def leaves_open(self, pod: Pod) -> bool:
        """Whether its choice among several nodes for `pod` is unknown."""
        return bool(self.doubt(pod, DoubtOf.CHOICE))

    @abstractmethod
    def evaluate(self, pod: Pod, company: Company | None = None) -> PodEvaluation:
        """What it says of `pod`, as the cluster is now, and places nothing; `company` are the pods that it is tried
        with."""

    def why_unbound(self, evaluation: PodEvaluation) -> Obstacle | None:
        """What makes binding fail on every node that passes; None where it succeeds on one."""
        return None

    def evaluate_binding(
        self, pod: Pod, company: Company | None = None, within: BoolMask | None = None
    ) -> PodEvaluation:
        """The same as `evaluate`, where a pod is refused that passes filters and is never bound.

        Nodes that are not `within` the run's shard count as closed, although the scheduler may choose one of them.
        """
        evaluation = self.evaluate(pod, company)
        if within is not None:
            evaluation.keep_to(within)
        fault = self.why_unbound(evaluation)
        return evaluation if fault is None else self.refused(evaluation.cycle, (fault,))

    def held_back(self, pods: Sequence[Pod]) -> tuple[Obstacle, ...]:
        """What keeps pods from being bound that are placed together, even if all of them find a node."""
        return ()

    def permits(self, cycle: Cycle, node: int) -> tuple[Obstacle, ...]:
        """What keeps the pod of `cycle` from being bound to `node`, although there is room."""
        return ()

    def try_place(self, unit: Unit, pick: Picker = first_of_ties, ledgers: Sequence[Ledger[Any]] = ()) -> UnitAttempt:
        """Places pods of `unit` until nothing keeps them back any more, and leaves them there: all of these or none.

        Pods that fit nowhere are passed over: the scheduler tries the unit again, in whatever order, until those that
        are placed first are enough.
        """
        company = Company(unit.pods)
        attempts: list[Attempt] = []
        waits: tuple[Obstacle, ...] = ()
        with self.cluster.what_if() as trial:
            for pod in unit.pods:
                evaluation = self.evaluate_binding(pod, company)
                choice = evaluation.choose()
                if choice is None:
                    attempts.append(Attempt(evaluation))
                    continue
                node = pick(evaluation, choice)
                waits = self.permits(evaluation.cycle, node)
                attempts.append(Attempt(evaluation, put_on_node(evaluation, node, choice, ledgers)))
                company.held.append(pod)
                if not waits:
                    trial.keep()
                    return UnitAttempt(tuple(attempts))
        return UnitAttempt(tuple(self._held_back(attempt, waits) for attempt in attempts))

    def _held_back(self, attempt: Attempt, waits: tuple[Obstacle, ...]) -> Attempt:
        """The try of a pod whose unit is not bound: one that fits is kept by what the unit waits for."""
        if attempt.placement is None:
            return attempt
        return Attempt(self.refused(attempt.evaluation.cycle, waits))

    def refused(self, cycle: Cycle, obstacles: tuple[Obstacle, ...], *, is_queued: bool = True) -> PodEvaluation:
        """The answer for a pod that is taken nowhere for `obstacles`."""
        nowhere = np.zeros(len(self.cluster.table), dtype=bool)
        return PodEvaluation(
            self,
            cycle,
            bits={},
            feasible=nowhere,
            is_queued=is_queued,
            refusals=obstacles,
        )

    def obstacles(self, evaluation: PodEvaluation) -> ObstacleCounts:
        """What is against the pod of a try, with the number of nodes that it is against."""
        return ObstacleCounts(evaluation)

    def preempts(self, pod: Pod) -> bool:
        """Whether it evicts others for `pod` where that fits nowhere."""
        return False

    def evicted_for(self, refused: PodEvaluation) -> EvictedFor | None:
        """Whom it evicts for the evaluated pod by rules of its own; None where it does not, or goes by priorities."""
        return None

    def openable(self, evaluation: PodEvaluation) -> BoolMask:
        """The nodes that may take the evaluated pod once others are placed, whoever these are."""
        return (
            np.ones_like(evaluation.feasible) if self.can_be_helped(evaluation.cycle.pod.pod) else evaluation.feasible
        )

    def open_but_for(self, evaluation: PodEvaluation, compared: Container[Compares]) -> BoolMask | None:
        """The nodes that would take the pod had they enough of what is `compared`; None where no room helps, or where
        the answer is not certain."""
        return None if evaluation.refusals or evaluation.cause else evaluation.feasible

    def compares(self, what: Compares) -> bool:
        """Whether no node takes more of it than it has free."""
        return False

    def spread(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints on how pods spread over domains by which it refuses nodes to `pod`."""
        return ()

    def preference(self) -> Preference:
        """Which nodes it prefers, for planners: they leave no pod where it would be scheduled otherwise."""
        return Preference()

    def num_changes_seen(self) -> int | None:
        """How often something changed so far that decides what pods see beside the cluster's; None: unknown."""
        return None

    def runs(self, plugin: str, point: str = "") -> bool:
        """Whether it runs the scheduling plugin of this name, at this field of a profile or at any point."""
        return False

    def origin_of(self, plugin: str) -> str:
        """The part of its configuration that refuses nodes under this name; empty where the name says it all."""
        return ""

    def args_of(self, in_use: type[ArgsType]) -> ArgsType:
        """The arguments of one of its scheduling plugins, by their type; those by default where it runs none such."""
        return in_use()
