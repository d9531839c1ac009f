"""What has to leave a node that is over its ceiling in one resource and just at it in another."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import make_problem
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings


def test_only_resources_over_the_ceiling_are_covered() -> None:
    """Node 0 has 2 too much of the first resource, and of the second what it may have."""
    problem = make_problem([[4, 1], [2, 1], [3, 0]], [[10, 10], [10, 10]], [0, 0, 0])

    ceilings = Ceilings(problem, np.array([[7, 2], [10, 10]]))

    cover = ceilings.covers[0]
    assert cover is not None
    assert (cover.chosen, cover.cost, cover.bound) == ((1,), 1, 1)


@pytest.mark.parametrize("cost", [1, 2])
def test_the_fewest_pods_are_counted_whatever_each_of_them_costs(cost: int) -> None:
    """Both of 2 have to leave, for the pods of 5 are pinned."""
    problem = make_problem(
        [[2], [2], [5], [5]], [[14], [10]], [0] * 4, cost=[cost] * 4, evictable=[True, True, False, False]
    )

    ceilings = Ceilings(problem, np.array([[10], [10]]))

    assert ceilings.fewest == {0: (0, 1)}
    assert ceilings.least_counts == {0: 2}
    cover = ceilings.covers[0]
    assert cover is not None
    assert cover.bound == 2 * cost
