"""What a plan says of the goals of planners: how near it comes, by what proof, and what ended the search."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.held_room import HeldRoom
from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import BlockedNode, Goal, GoalStatus, Level, SearchEnd, SearchPoint, UnscheduledPod
from descheduler.report.plan.goal import (
    PlannedGoal,
    SearchMoment,
    goal_of,
    goal_texts,
    in_units,
    objective_title,
)
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_decisions
from tests.report.pictures import builders as pictures

DECISIONS = make_test_decisions([make_pod("old")])


def goal(*, evictions: int = 0, bound: int | None = 0, status: GoalStatus = "optimal", **facts: Any) -> Goal:
    """A goal of one figure, and what it says beside that."""
    levels = (Level("nodes over target", 3, 1, 0),)
    given: dict[str, Any] = {"seconds": 0.0, "work": 0.0, "cost": 0, "cost_bound": 0, "sentence": "", **facts}
    return Goal("BalanceNodes", levels, evictions, bound, status=status, **given)


def planned(*goals: Goal, room_for: str = "") -> PlannedGoal:
    """What the plan says of `goals`, one plugin each; a move holds room for the pod `room_for`."""
    decisions = DECISIONS
    if room_for:
        room = HeldRoom(make_pod(room_for, node=""), "a")
        decisions = replace(decisions, moves=tuple(replace(move, rooms=(room,)) for move in decisions.moves))
    facts = {("main", f"planner-{number}"): PluginFacts("", 0, 0, goals=(each,)) for number, each in enumerate(goals)}
    found = goal_of(replace(decisions, facts=facts))
    assert found is not None
    return found


def test_cycle_without_planners_has_no_goal() -> None:
    assert goal_of(DECISIONS) is None


@pytest.mark.parametrize(
    ("goals", "bound", "gap"),
    [
        pytest.param([(6, 4)], 4, 0.5, id="one objective"),
        pytest.param([(0, 0)], 0, 0.0, id="nothing to do"),
        pytest.param([(2, 0)], 0, 2.0, id="a bound of nothing counts as one eviction"),
        pytest.param([(3, 3)], 3, 0.0, id="as few as are needed"),
        pytest.param([(6, 4), (0, 0)], 4, 0.5, id="evictions for one objective alone"),
        pytest.param([(6, 4), (1, 1)], None, None, id="evictions for two objectives"),
        pytest.param([(6, None)], None, None, id="no proof"),
        pytest.param([(6, 4), (0, None)], None, None, id="no proof for one of them"),
        pytest.param([(7, 3)], 3, 1.333333, id="rounded to millionths"),
    ],
)
def test_bound_of_all_objectives_is_told_where_it_is_proven(
    goals: list[tuple[int, int | None]], bound: int | None, gap: float | None
) -> None:
    found = planned(*(goal(evictions=number, bound=least) for number, least in goals))

    assert (found.evictions, found.bound, found.gap) == (sum(number for number, _ in goals), bound, gap)


@pytest.mark.parametrize(
    ("goals", "status"),
    [
        pytest.param([("optimal", 2)], "optimal", id="the best plan"),
        pytest.param([("optimal", 2), ("infeasible", 0)], "infeasible", id="the worst of them"),
        pytest.param([("nothing", 0), ("feasible", 1)], "feasible", id="the worst of them wherever it is"),
        pytest.param([("nothing", 0), ("nothing", 0)], "nothing", id="nothing to do"),
        pytest.param([("optimal", 2), ("optimal", 1)], "feasible", id="on top of evictions for an earlier one"),
        pytest.param([("optimal", 2), ("optimal", 0)], "feasible", id="on top of evictions without further ones"),
        pytest.param([("optimal", 2), ("nothing", 0)], "optimal", id="nothing to do on top of evictions"),
        pytest.param([("optimal", 0), ("optimal", 2)], "optimal", id="evictions for the last one alone"),
        pytest.param([("feasible", 2), ("optimal", 2)], "feasible", id="not the best before"),
    ],
)
def test_status_is_the_worst_and_the_best_only_where_no_earlier_evictions_were_given(
    goals: list[tuple[GoalStatus, int]], status: GoalStatus
) -> None:
    found = planned(*(goal(evictions=number, status=each) for each, number in goals))

    assert found.status == status


@pytest.mark.parametrize(
    ("ends", "expected"),
    [(["", "workLimit"], "workLimit"), (["interrupt", "timeLimit"], "interrupt"), (["", ""], "")],
    ids=["a limit of work", "an interrupt before a limit of time", "nothing"],
)
def test_search_was_ended_by_what_is_least_reproducible(ends: list[SearchEnd], expected: str) -> None:
    assert planned(*(goal(search_ended_by=each) for each in ends)).search_ended_by == expected


def test_time_and_work_are_those_of_all_objectives() -> None:
    found = planned(goal(seconds=1.0004, work=0.1), goal(seconds=2.0, work=0.2000004))

    assert (found.seconds, found.work) == (3.0, 0.3)


@pytest.mark.parametrize(
    ("figure", "scale", "expected"),
    [(6, 1, 6), (6, 3, 2), (5, 3, 1.666666), (1, 3, 0.333333), (0, 7, 0), (2_000_001, 1_000_000, 2.000001)],
)
def test_figures_are_rounded_down_to_millionths(figure: int, scale: int, expected: float) -> None:
    found = in_units(figure, scale)

    assert (found, type(found)) == (expected, type(expected))


def test_moments_of_a_search_have_the_units_of_the_first_figure() -> None:
    levels = (Level("units stranded", 6, 3, 0, scale=3), Level("nodes in use", 2, 2, 2))
    points = (SearchPoint(0.12345, 6, 1, 0), SearchPoint(2.0, 3, 3, 4))

    (objective,) = planned(replace(goal(), levels=levels, history=points)).objectives

    assert objective.history == (
        SearchMoment(seconds=0.123, figure=2, bound=0.333333, evictions=0),
        SearchMoment(seconds=2.0, figure=1, bound=1, evictions=4),
    )


def test_pending_pod_has_its_node_and_whether_room_is_held_for_it() -> None:
    pods = [UnscheduledPod(make_pod("held", node=""), "a"), UnscheduledPod(make_pod("waits", node=""), "")]

    (objective,) = planned(goal(pending_pods=tuple(pods)), room_for="held").objectives

    assert [(each.pod.name, each.to_node, each.holds_target) for each in objective.pending_pods] == [
        ("held", "a", True),
        ("waits", None, False),
    ]


def test_node_that_is_not_drained_names_the_pod_in_the_way_where_there_is_one() -> None:
    blocked = (BlockedNode("a", "a pod has no owner", make_pod("bare")), BlockedNode("b", "its pods do not fit"))

    (objective,) = planned(goal(blocked_nodes=blocked)).objectives

    assert [(each.node, each.pod and each.pod.name) for each in objective.blocked_nodes] == [("a", "bare"), ("b", None)]


def test_objectives_of_several_profiles_have_the_profile_in_their_names_and_texts() -> None:
    one, two = pictures.objective(sentence="1 → 0"), pictures.objective(sentence="2 → 0")
    same, other = pictures.goal(one, two), pictures.goal(one, replace(two, profile="q"))

    assert [objective_title(same, each) for each in same.objectives] == ["BalanceNodes", "BalanceNodes"]
    assert goal_texts(same) == ["1 → 0", "2 → 0"]
    assert [objective_title(other, each) for each in other.objectives] == [
        "BalanceNodes (profile p)",
        "BalanceNodes (profile q)",
    ]
    assert goal_texts(other) == ["profile p: 1 → 0", "profile q: 2 → 0"]
