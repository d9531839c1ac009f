"""The gap of a plan: by what share it has more evictions than are needed at least."""

from __future__ import annotations

from msgspec.structs import replace

from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import Goal, Level
from descheduler.report.plan.making import make_plan
from tests.builders import make_node, make_pod
from tests.strategies.runs import run_plugin


def gap(evictions: int, bound: int | None) -> float | None:
    goal = Goal("RepairViolations", (Level("violations left", 3, 0, 0),), evictions, bound, 0, 0, "feasible", 0, 0, "")
    decisions = run_plugin("PodLifeTime", [make_node("a")], [make_pod("p")], args={"maxPodLifeTimeSeconds": 9**9})
    facts = {("p", "MigrationPlanner"): PluginFacts("", 0, 0, goals=(goal,))}
    planned = make_plan(replace(decisions, facts=facts)).goal
    assert planned is not None
    return planned.gap


def test_share_of_evictions_that_are_more_than_needed() -> None:
    assert gap(6, 4) == 0.5
    assert gap(0, 0) == 0


def test_nothing_is_said_where_no_number_is_proven() -> None:
    assert gap(6, None) is None
