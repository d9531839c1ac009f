"""Which rows and columns the tables of a simulation have, and when."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.simulation_document import Difference, SimulatedCycle, SimulatedFailure, Simulation
from descheduler.report.tables.simulation_table import cycle_rows, difference_row, remaining_texts, simulation_table
from descheduler.report.tables.table_style import TableStyle
from tests.report.pictures.builders import cluster, cycle, simulated_move, simulated_policy, simulation


def numbers(*cycles: SimulatedCycle) -> list[str]:
    """The first column below the start."""
    _, rows = cycle_rows(simulated_policy(*cycles))
    return [str(row[0]) for row in rows[1:]]


@pytest.mark.parametrize(
    ("cycles", "expected"),
    [
        pytest.param([cycle(1), cycle(2), cycle(3)], ["1-3"], id="quiet ones"),
        pytest.param([cycle(1, evictions=1), cycle(2), cycle(3)], ["1", "2-3"], id="after an eviction"),
        pytest.param([cycle(1), cycle(2, evictions=1), cycle(3)], ["1", "2", "3"], id="around an eviction"),
        pytest.param([cycle(1), cycle(2, after=cluster(pending=1))], ["1", "2"], id="another cluster"),
        pytest.param([cycle(1, evictions=1), cycle(2, evictions=1)], ["1", "2"], id="with evictions"),
        pytest.param([], [], id="none"),
    ],
)
def test_cycles_in_a_row_in_which_nothing_changes_share_a_row(
    cycles: list[SimulatedCycle], expected: list[str]
) -> None:
    assert numbers(*cycles) == expected


def test_pods_that_are_not_created_have_a_column_where_there_are_some() -> None:
    lost = cycle(1, evictions=3, replacements={"scheduled": 1, "not created": 1200})

    for cycles, header, row in (
        ([lost], ["CYCLE", "EVICTED", "SCHEDULED", "NOT CREATED"], ["1", "3", "1", "1,200"]),
        ([cycle(1, evictions=3)], ["CYCLE", "EVICTED", "SCHEDULED", "PENDING"], ["1", "3", "3", "0"]),
    ):
        found, rows = cycle_rows(simulated_policy(*cycles))
        assert (list(found[:4]), list(rows[1][:4])) == (header, row)


def test_figures_are_those_after_the_cycle_and_what_is_not_counted_is_empty() -> None:
    _, rows = cycle_rows(simulated_policy(cycle(1, after=cluster(pending=1200, over=3)), before=cluster(over=None)))

    assert list(rows[0]) == ["start", "", "", "0", "", "50%", "5%", "20%", "2.5%"]
    assert list(rows[1][3:5]) == ["1,200", "3"]


@pytest.mark.parametrize(
    ("first", "second", "row"),
    [
        (2, 0, ["f", "2", "0", "-2"]),
        (0, 1500, ["f", "0", "1,500", "+1,500"]),
        (1.25, 2.5, ["f", "1.25", "2.5", "+1.25"]),
        (None, 1, ["f", "", "1", ""]),
        (1, None, ["f", "1", "", ""]),
    ],
)
def test_difference_is_that_of_the_second_policy_from_the_first(
    first: float | None, second: float | None, row: list[str]
) -> None:
    assert list(difference_row(Difference(figure="f", first=first, second=second))) == row


def texts(*policies: Any) -> dict[str, str]:
    return {label: text for each in remaining_texts(simulation(*policies)) for label, text in each.items()}


def test_what_a_further_run_leaves_is_told_for_each_policy() -> None:
    leaving = simulated_policy(not_evicted={"BarePod": 1200, "DaemonSet": 1}, why_nothing="all are blocked")

    assert texts(leaving) == {
        "Not evicted": "1,201 pods (BarePod\u00a01,200, DaemonSet\u00a01)",
        "Why nothing": "all are blocked",
    }
    assert texts(simulated_policy(), leaving) == {
        "Not evicted, first policy": "",
        "Why nothing, first policy": "",
        "Not evicted, second policy": "1,201 pods (BarePod\u00a01,200, DaemonSet\u00a01)",
        "Why nothing, second policy": "all are blocked",
    }


@pytest.mark.parametrize(
    ("why_nothing", "told"),
    [
        pytest.param("MigrationPlanner: no pod is pending", "", id="the goal alone"),
        pytest.param(
            "MigrationPlanner: no pod is pending; PodLifeTime: no pod is old",
            "MigrationPlanner: no pod is pending; PodLifeTime: no pod is old",
            id="of another plugin too",
        ),
    ],
)
def test_what_the_goal_of_the_last_cycle_says_is_not_told_again(why_nothing: str, told: str) -> None:
    last = replace(cycle(1), goals=("no pod is pending",))

    assert texts(simulated_policy(last, why_nothing=why_nothing))["Why nothing"] == told


def lines_of(found: Simulation, *, is_wide: bool = False) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    return [" ".join(line.split()) for line in simulation_table(found, TableStyle(is_wide=is_wide)) if line]


def test_evictions_are_told_in_wide_tables() -> None:
    moves = (simulated_move("p"), simulated_move("q", to_node=None, replacement="not created"))
    found = simulation(simulated_policy(cycle(1, *moves)))

    wide = lines_of(found, is_wide=True)

    assert "policy.yaml: 2 evictions" in wide
    assert "1 default p a b PodLifeTime" in wide
    assert "1 default q a not created PodLifeTime" in wide
    assert "policy.yaml: 2 evictions" not in lines_of(found)


def test_differences_are_told_of_two_policies_alone() -> None:
    one, two = simulated_policy(cycle(1), path="a"), simulated_policy(cycle(1), path="b")
    difference = Difference(figure="evictions", first=1, second=2)

    assert not [line for line in lines_of(simulation(one)) if "ifference" in line]
    assert "No difference at the end" in lines_of(simulation(one, two))
    told = lines_of(simulation(one, two, differences=(difference,)))
    assert ("Differences at the end" in told, "No difference at the end" in told) == (True, False)


def test_goals_failures_and_warnings_are_told() -> None:
    failure = SimulatedFailure(cycle=2, profile="main", plugin="P", message="boom")
    policy = simulated_policy(cycle(1, goals=("2 nodes emptied",)), failures=(failure,), warnings=("look",))

    lines = lines_of(simulation(policy))

    assert "Goal in cycle 1: 2 nodes emptied" in lines
    assert [line for line in lines if line.startswith(("Failed: main/P in cycle 2: ", "Warning: look"))][1:] == [
        "Warning: look"
    ]
    assert not [line for line in lines_of(simulation(replace(policy, failures=()))) if line.startswith("Failed")]
