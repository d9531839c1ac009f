"""The figures of a goal in the JSON document of a plan."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import Goal, Level
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from tests.builders import make_node, make_pod
from tests.strategies.runs import run_plugin


def plan_with(level: Level) -> Plan:
    goal = Goal("ReduceFragmentation", (level,), 1, 0, 1000, 0, "feasible", 0.0, 0.0, "")
    decisions = run_plugin("PodLifeTime", [make_node("a")], [make_pod("p")], args={"maxPodLifeTimeSeconds": 9**9})
    return make_plan(replace(decisions, facts={("p", "MigrationPlanner"): PluginFacts("", 0, 0, goals=(goal,))}))


def figures(level: Level) -> str:
    """As JSON has them."""
    goal = plan_with(level).goal
    assert goal is not None
    (found,) = goal.objectives[0].levels
    return msgspec.json.encode([found.before, found.after, found.bound]).decode()


def test_whole_figures_are_integers() -> None:
    assert figures(Level("nodes in use", 6, 2, 0)) == "[6,2,0]"
    assert figures(Level("units stranded", 6, 3, 0, scale=3)) == "[2,1,0]"


def test_fractions_are_rounded_down_so_that_a_bound_stays_one() -> None:
    assert figures(Level("units stranded", 5, 4, 2, scale=3)) == "[1.666666,1.333333,0.666666]"


def test_what_is_at_its_bound_is_seen_to_be() -> None:
    assert figures(Level("units stranded", 3, 2, 2, scale=3)) == "[1,0.666666,0.666666]"


def test_figures_of_a_plan_that_was_read_back_are_those_that_were_written() -> None:
    written = msgspec.json.encode(plan_with(Level("units stranded", 6, 2, 0, scale=3)))

    assert msgspec.json.encode(msgspec.json.decode(written, type=Plan)) == written
