"""A plan with a sequence of drains in place of its own moves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from descheduler.optimizer import ConsolidateNodes, Limits, make_problem, solve
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import Drain
from descheduler.optimizer.order.waves import Reassignment
from descheduler.planner.objectives.drain_plan import with_drains


def test_drains_take_the_place_of_moves_and_cost_on_top_of_them() -> None:
    """The plan empties node 0 or 2; the drain empties node 1."""
    problem = make_problem([[1], [1], [1]], [[3]] * 3, [0, 1, 2])
    objective = ConsolidateNodes(ceiling=np.full((3, 1), 3))
    plan = solve(problem, objective, Limits(work=0.1))
    assert plan.value[0] == 1
    drain = Drain(1, np.array([1]), np.array([2]))
    budget: Any = SimpleNamespace(seconds=3.0, spent=1.5)

    found = with_drains(plan, [drain], objective.prepare(problem), cast(Budget, budget))

    assert found.assignment.tolist() == [0, 2, 2]
    assert list(found.moves) == [Reassignment(1, 1, 2)]
    assert found.value == (2, 1)
    assert (found.seconds, found.work) == (plan.seconds + 3.0, plan.work + 1.5)
