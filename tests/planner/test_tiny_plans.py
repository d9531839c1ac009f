"""Plans for tiny clusters, beside the best of all final states."""

from __future__ import annotations

import pytest

from tests.planner.tiny_objectives import OBJECTIVES
from tests.planner.tiny_plans import DEFICIT, best, fault_of, planned, why_worse, world_of
from tests.series import first_of


@pytest.mark.long
@pytest.mark.parametrize("seed", first_of(1, range(200)))
@pytest.mark.parametrize("chooses", [True, False], ids=["the plan chooses nodes", "the scheduler chooses nodes"])
@pytest.mark.parametrize("case", sorted(OBJECTIVES))
def test_a_plan_is_sound_and_says_nothing_that_is_not_true(case: str, *, chooses: bool, seed: int) -> None:
    plan = planned(case, world_of(case, seed), chooses=chooses)

    assert fault_of(case, plan) == ""


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "seed"),
    [
        pytest.param("consolidateNodes", 33, id="drains are begun in several orders, not with the fullest node alone"),
        pytest.param("balanceUtilization", 77, id="a pod may go back to a node that is over its target with it"),
        pytest.param("balanceUtilization", 140, id="a node is open to a pod once another of its kind has left it"),
        pytest.param("reduceFragmentation", 1, id="moves are made that gain only together"),
        pytest.param("repairViolations of spread", 4, id="replacements count in their domains"),
    ],
)
def test_a_plan_is_as_good_as_the_best_final_state(case: str, seed: int) -> None:
    plan = planned(case, world_of(case, seed))

    assert plan.reached == best(case, plan.world)


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "seed"),
    [
        pytest.param("balanceUtilization", 75, id="no order of moves brings a node over its target for a while"),
        pytest.param("repairViolations", 1, id="a pod stays where its kind is too many so that others can be moved"),
        pytest.param("repairViolations", 21, id="no order leads to the final state with the fewest moves"),
    ],
)
def test_no_better_plan_is_possible(case: str, seed: int) -> None:
    plan = planned(case, world_of(case, seed))

    assert why_worse(case, plan) != DEFICIT


def test_a_search_for_room_ends_where_nothing_is_left_to_gain() -> None:
    plan = planned("makeRoom within maxEvictions", world_of("makeRoom within maxEvictions", 5))

    assert (plan.reached.num_evictions, plan.goal["searchEndedBy"]) == (1, "")
