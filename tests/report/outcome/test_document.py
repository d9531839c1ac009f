"""What an outcome says of the goals of planners, and of who asked for an eviction."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.plan.goals import Level, ReachedGoal
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.outcome.document import ReachedObjective, goal_text, reached_objectives
from tests.report.decided_cycles import OLD
from tests.report.outcomes import EVICTED, FAILED, GONE, executed, outcome_of


def objective(*, before: int = 6, planned: int = 0, reached: int | None = 0, bound: int = 0, scale: int = 1) -> Any:
    level = Level("nodes over target", 4, planned, bound, scale=scale)
    (found,) = reached_objectives([ReachedGoal("main", "MigrationPlanner", "BalanceNodes", before, level, reached)])
    return found


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        pytest.param({}, "6 → 0", id="all that can be"),
        pytest.param({"reached": 2}, "6 → 2 (planned: 0, best possible: 0)", id="less than planned"),
        pytest.param({"planned": 2, "reached": 2}, "6 → 2 (best possible: 0)", id="as planned"),
        pytest.param({"planned": 2, "reached": 1, "bound": 1}, "6 → 1 (planned: 2)", id="better than planned"),
        pytest.param({"reached": None}, "6 → unknown (planned: 0, best possible: 0)", id="not known"),
        pytest.param({"before": 1500, "reached": 1200, "planned": 1200, "bound": 1200}, "1,500 → 1,200", id="many"),
    ],
)
def test_goal_is_told_by_what_was_reached_and_what_differs_from_it(figures: dict[str, Any], text: str) -> None:
    assert goal_text(objective(**figures)) == f"nodes over target: {text}"


def test_figures_of_an_objective_are_in_the_units_that_people_count_in() -> None:
    assert objective(before=9, planned=3, reached=6, bound=2, scale=3) == ReachedObjective(
        profile="main",
        plugin="MigrationPlanner",
        objective="BalanceNodes",
        counts="nodes over target",
        before=3,
        planned=1,
        reached=2,
        bound=0.666666,
        left=1.333333,
    )


def test_nothing_is_left_to_be_told_where_it_is_not_known_what_was_reached() -> None:
    found = objective(reached=None)

    assert (found.reached, found.left) == (None, None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (OutcomeKind.EVICTED, True),
        (OutcomeKind.BACKGROUND, True),
        (OutcomeKind.FAILED, False),
        (OutcomeKind.REFUSED, False),
    ],
    ids=lambda each: each.value if isinstance(each, OutcomeKind) else "",
)
def test_pod_may_have_left_where_it_was_evicted_or_another_controller_evicts_it(
    kind: OutcomeKind, expected: bool
) -> None:
    outcome = outcome_of(executed(OLD[0], kind, OutcomeCode.DONE), FAILED, GONE)

    assert outcome.may_have_evicted is expected


@pytest.mark.parametrize(
    ("job", "reason", "asked_by", "why"),
    [
        pytest.param("", "runs for too long", "PodLifeTime", "runs for too long", id="a plugin"),
        pytest.param("move", "", "PodMigrationJob move", "PodMigrationJob move", id="a user"),
        pytest.param("move", "drain", "PodMigrationJob move", "PodMigrationJob move: drain", id="a user with a reason"),
    ],
)
def test_result_says_who_asked_for_the_eviction_and_why(job: str, reason: str, asked_by: str, why: str) -> None:
    eviction = replace(EVICTED.eviction, users_job=job, reason=reason)

    (result,) = outcome_of(replace(EVICTED, eviction=eviction)).results

    assert (result.asked_by, result.why) == (asked_by, why)
