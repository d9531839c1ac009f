"""One pod tried by its scheduler: where it would go, and on which conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from descheduler.model.pod import Pod
from descheduler.placement.framework import PreBindPlugin
from descheduler.placement.scheduling import Choice, Evaluation, Scheduler
from descheduler.placement.short_stays import short_stay

__all__ = ["Attempt", "Attempts", "Picker", "Placement", "first_of_ties"]

Picker = Callable[[Evaluation, Choice], int]
"""Says which node is taken, from what the filters say and what the scores do."""


def first_of_ties(evaluation: Evaluation, choice: Choice) -> int:
    """The predicted node."""
    del evaluation
    return choice.node


class Placement(NamedTuple):
    """Where a pod was put, out of what choice, and the conditions of it, sentences all of which must hold."""

    node: int
    choice: Choice
    conditions: tuple[str, ...]


class Attempt(NamedTuple):
    """What came of one try. Without a `placement` the `evaluation` says why.

    A pod that fits on several nodes and cannot be scored is not placed although `evaluation.fits`.
    """

    evaluation: Evaluation
    placement: Placement | None = None


class Attempts:
    """Tries pods, and leaves those that fit where they were put."""

    def __init__(self) -> None:
        self._pre_binders: dict[Scheduler, list[PreBindPlugin]] = {}

    def place(self, scheduler: Scheduler, pod: Pod, pick: Picker = first_of_ties) -> Attempt:
        """Places `pod` where its scheduler would, by the last word of `pick`."""
        evaluation = scheduler.evaluate(pod)
        choice = evaluation.choose()
        if choice is None:
            return Attempt(evaluation)
        node = pick(evaluation, choice)
        return Attempt(evaluation, Placement(node, choice, self.settle(scheduler, evaluation, node)))

    def settle(self, scheduler: Scheduler, evaluation: Evaluation, node: int) -> tuple[str, ...]:
        """Puts the evaluated pod on `node`; returns the conditions of that."""
        cycle = evaluation.cycle
        found = [sentence for plugin in self._binders_of(scheduler) for sentence in plugin.pre_bind(cycle, node)]
        found += [reason for obstacle in scheduler.permits(cycle, node) for reason in obstacle.reasons]
        stay = short_stay(cycle.pod.spec.tolerations, cycle.cluster.table.nodes[node])
        if stay:
            found.append(stay)
        scheduler.place(evaluation, node)
        return tuple(dict.fromkeys((*found, *cycle.notes)))  # reserving may have found some more

    def _binders_of(self, scheduler: Scheduler) -> list[PreBindPlugin]:
        known = self._pre_binders.get(scheduler)
        if known is None:
            plugins = scheduler.filters.values()
            known = self._pre_binders[scheduler] = [each for each in plugins if isinstance(each, PreBindPlugin)]
        return known
