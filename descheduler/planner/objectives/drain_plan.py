"""A plan of which the moves are those of a sequence of drains, a wave each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodesGoal, Drain
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.solving import Solution


def with_drains(plan: Solution, drains: Sequence[Drain], goal: ConsolidateNodesGoal, budget: Budget) -> Solution:
    """`plan` with `drains` in place of its own moves; what these took of `budget` is added to what it took."""
    moved = {move.pod: move.source for move in plan.moves}
    assignment = plan.assignment.copy()
    for pod, source in moved.items():
        assignment[pod] = source
    for drain in drains:
        assignment[drain.pods] = drain.targets
    return dataclasses.replace(
        plan,
        assignment=assignment,
        waves=tuple(map(_wave, drains)),
        value=goal.value(assignment),
        seconds=plan.seconds + budget.seconds,
        work=plan.work + budget.spent,
    )


def _wave(drain: Drain) -> tuple[Reassignment, ...]:
    pairs = zip(drain.pods.tolist(), drain.targets.tolist(), strict=True)
    return tuple(Reassignment(pod, drain.node, target) for pod, target in pairs)
