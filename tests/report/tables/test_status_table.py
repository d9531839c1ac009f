"""The table of the last runs, and what is said of the latest one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.outcome.document import PluginResults, ReachedObjective
from descheduler.report.outcome.predictions import Predictions
from descheduler.report.outcome.status_document import (
    NOTHING_TAKEN_UP,
    RunSummary,
    StatusDocument,
    TakenUp,
    make_summary,
)
from descheduler.report.tables.status_table import status_table
from descheduler.report.tables.table_style import TableStyle
from tests.report.decided_cycles import make_test_decisions
from tests.report.outcomes import EVICTED, FAILED, REFUSED, TOO_LATE

DECISIONS = make_test_decisions()


def run(*outcomes: Any, **facts: Any) -> RunSummary:
    """A run that decided on three pods, came to these outcomes, and of which `facts` hold."""
    found = make_summary(
        DECISIONS,
        outcomes,
        goals=(),
        stopped_by="",
        taken_up=NOTHING_TAKEN_UP,
        num_unused=0,
        seconds=1.26,
        num_api_calls=1234,
    )
    return replace(found, **facts)


def lines_of(*runs: RunSummary) -> list[str]:
    """The table, with one space between columns."""
    status = replace(StatusDocument.decoded(""), runs=runs)
    return [" ".join(line.split()) for line in status_table(status, TableStyle())]


def lines_of_latest(*runs: RunSummary) -> list[str]:
    lines = lines_of(*runs)
    return lines[lines.index("Latest run") + 1 :]


def test_each_run_is_a_row() -> None:
    hits = Predictions(as_predicted=1, tied=1, elsewhere=2, not_seen=0, hit_rate=0.5)

    lines = lines_of(run(EVICTED, FAILED, TOO_LATE, predictions=hits), run(EVICTED, REFUSED, stopped_by="--deadline"))

    assert lines[:5] == [
        "Last runs",
        "TIME PLANNED EVICTED REFUSED FAILED NOT ATTEMPTED AS PREDICTED SECONDS API CALLS ENDED BY",
        "2026-06-30T12:00:00Z 3 1 0 1 1 50% 1.3 1,234 -",
        "2026-06-30T12:00:00Z 3 1 1 0 0 - 1.3 1,234 --deadline",
        "",
    ]


def test_run_that_was_skipped_ended_by_that() -> None:
    assert lines_of(run(skipped="no ready node"))[2].endswith(" no ready node")


def test_status_without_runs_says_so() -> None:
    assert lines_of() == ["no run"]


def test_latest_run_is_told_in_lines_and_what_there_is_nothing_to_say_of_has_none() -> None:
    latest = run(version="1.0", policy_digest="abc")

    assert lines_of_latest(latest, run(EVICTED)) == [
        "Version: 1.0",
        "Policy: policy.yaml (abc)",
        "Result: 0 pods evicted",
    ]


OBJECTIVE = ReachedObjective(
    profile="main",
    plugin="MigrationPlanner",
    objective="BalanceNodes",
    counts="nodes over target",
    before=6,
    planned=2,
    reached=2,
    bound=2,
    left=0,
)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        pytest.param({"not_evicted": {"BarePod": 2, "DaemonSet": 1}}, "Not evicted: 3 pods (BarePod 2, DaemonSet 1)"),
        pytest.param({"not_evicted": {"BarePod": 1}}, "Not evicted: 1 pod (BarePod 1)"),
        pytest.param({"taken_up": TakenUp(finished=1, undone=0, removed=2, of_users=0)},
                     "Earlier runs: 1 migration finished, 2 reservations removed"),
        pytest.param({"taken_up": TakenUp(finished=0, undone=3, removed=0, of_users=0)},
                     "Earlier runs: 3 migrations undone"),
        pytest.param({"taken_up": TakenUp(finished=0, undone=0, removed=0, of_users=4)}, "Jobs of users: 4 succeeded"),
        pytest.param({"reservations_unused": 5}, "Reservations: 5 not used"),
        pytest.param({"goals": (OBJECTIVE, replace(OBJECTIVE, counts="pods"))},
                     "Goal: nodes over target: 6 → 2; pods: 6 → 2"),
        pytest.param({"unconfirmed": 1}, "Result: 1 pod evicted, 1 of them unconfirmed"),
        pytest.param({"predictions": Predictions(as_predicted=1, tied=0, elsewhere=1, not_seen=1, hit_rate=0.5)},
                     "Scheduled: 1 of 2 on the predicted node (50%), 1 not seen ready"),
        pytest.param({"plugins": tuple(PluginResults(profile="p", plugin=name, counts={"evicted": number})
                                       for name, number in (("A", 2), ("", 1), ("B", 0)))},
                     "Evicted by: A 2, PodMigrationJobs of users 1"),
    ],
)  # fmt: skip
def test_latest_run_tells(facts: dict[str, Any], line: str) -> None:
    assert line in lines_of_latest(run(EVICTED, **facts))


def test_names_are_escaped() -> None:
    odd = "a\x1b[31m"

    assert "\x1b" not in "".join(lines_of(run(EVICTED, policy=odd, version=odd, not_evicted={odd: 1}, stopped_by=odd)))
