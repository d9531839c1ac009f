"""What a planner was asked for, as metrics."""

from __future__ import annotations

from descheduler.plan.decisions import Decisions
from descheduler.report.plan.making import make_plan
from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.run_record import RunRecord
from tests.builders import make_node, make_pod
from tests.planner import swap
from tests.planner.runs import run_objective
from tests.strategies.runs import run_plugin


def goal_samples(decisions: Decisions) -> dict[tuple[str, str], float]:
    """The samples of goals by name and value."""
    registry = run_registry(RunRecord(plan=make_plan(decisions)), last_success=None)
    return {
        (sample.name, sample.labels["value"]): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name.startswith("descheduler_goal")
    }


def test_figures_and_evictions_of_an_objective_stand_beside_their_bounds() -> None:
    pods = [make_pod(f"p{number}", cpu="1") for number in range(4)]
    args = {"objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}], "timeLimit": "1s"}
    decisions = run_plugin("MigrationPlanner", [make_node(name) for name in "ab"], pods, args=args)

    assert goal_samples(decisions) == {
        ("descheduler_goal", "before"): 1,
        ("descheduler_goal", "after"): 0,
        ("descheduler_goal", "bound"): 0,
        ("descheduler_goal_evictions", "planned"): 2,
        ("descheduler_goal_evictions", "bound"): 2,
    }


def test_evictions_have_no_bound_where_none_is_proven_for_the_figures_of_the_plan() -> None:
    args = {"targetThresholds": {"cpu": 70}}

    decisions = run_objective("balanceUtilization", swap.NODES, swap.PODS, args=args, packs=False)

    assert goal_samples(decisions) == {
        ("descheduler_goal", "before"): 2,
        ("descheduler_goal", "after"): 1,
        ("descheduler_goal", "bound"): 0,
        ("descheduler_goal_evictions", "planned"): 1,
    }
