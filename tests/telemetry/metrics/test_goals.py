"""What a planner was asked for, as metrics."""

from __future__ import annotations

from descheduler.report.plan.making import make_plan
from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.run_record import RunRecord
from tests.builders import make_node, make_pod
from tests.strategies.runs import run_plugin


def test_figures_and_evictions_of_an_objective_stand_beside_their_bounds() -> None:
    pods = [make_pod(f"p{number}", cpu="1") for number in range(4)]
    args = {"objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}], "timeLimit": "1s"}
    decisions = run_plugin("MigrationPlanner", [make_node(name) for name in "ab"], pods, args=args)

    registry = run_registry(RunRecord(plan=make_plan(decisions)), last_success=None)

    found = {
        (sample.name, sample.labels["value"]): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name.startswith("descheduler_goal")
    }
    assert found == {
        ("descheduler_goal", "before"): 1,
        ("descheduler_goal", "after"): 0,
        ("descheduler_goal", "bound"): 0,
        ("descheduler_goal_evictions", "planned"): 2,
        ("descheduler_goal_evictions", "bound"): 2,
    }
