from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from descheduler.report.formats.render import render
from descheduler.report.simulation_document import Simulation
from descheduler.report.tables.simulation_table import simulation_table
from descheduler.report.tables.table_style import TableStyle
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import NOW, container_status, pod_object
from tests.placement.workloads import cluster_of, workload_object
from tests.simulation.loops import balancing, crowded, drained, evicting, resting


def lines_of(simulation: Simulation) -> list[str]:
    """The table, with one space between columns."""
    return [" ".join(line.split()) for line in simulation_table(simulation, TableStyle())]


def resting_cycles() -> Simulation:
    """Two evictions with an hour between them."""
    start = Start(resting("1h"), cluster_of(*drained()))
    return simulate([start], now=NOW, options=SimulationOptions(20, timedelta(minutes=10)))


def test_quiet_cycles_in_a_row_share_a_line() -> None:
    rows = lines_of(resting_cycles())

    assert [row.split()[:3] for row in rows[2:6]] == [
        ["start", "-", "-"],
        ["1", "1", "1"],
        ["2-6", "0", "0"],
        ["7", "1", "1"],
    ]


def test_title_names_the_policy_and_the_time_between_cycles() -> None:
    assert lines_of(resting_cycles())[0] == "resting.yaml: requests after each cycle, one every 10m0s"


def test_pods_that_are_not_created_again_have_a_column() -> None:
    pod = pod_object("old", containers=[container_status(restarts=5)])
    start = Start(evicting(), cluster_of(workload_object("ReplicaSet/web", replicas=0), pod))

    rows = lines_of(simulate([start], now=NOW, options=SimulationOptions()))

    assert rows[1].startswith("CYCLE EVICTED SCHEDULED NOT CREATED PENDING")
    assert rows[3].startswith("1 1 0 1 0")


def test_compared_policies_have_a_table_of_their_differences() -> None:
    snapshot = cluster_of(*crowded())
    simulation = simulate(
        [Start(balancing(), snapshot), Start(evicting(), snapshot)], now=NOW, options=SimulationOptions()
    )

    rows = lines_of(simulation)

    assert "FIGURE FIRST POLICY SECOND POLICY DIFFERENCE" in rows
    assert "evictions 2 0 -2" in rows
    assert [row for row in rows[-2:] if "evict" in row] == rows[-2:]


def test_policies_that_end_alike_are_said_to() -> None:
    snapshot = cluster_of(*crowded())
    simulation = simulate([Start(evicting(), snapshot)] * 2, now=NOW, options=SimulationOptions())

    assert "No difference at the end" in lines_of(simulation)


def test_names_are_escaped() -> None:
    simulation = resting_cycles()
    (policy,) = simulation.policies
    odd = replace(policy, policy=replace(policy.policy, path="a\x1b[31m.yaml"), warnings=("b\x1b[31m",))

    text = "".join(render(replace(simulation, policies=(odd,)), "wide"))

    assert "\x1b" not in text


def test_summary_says_why_a_further_run_evicts_nothing_with_the_reasons_counted() -> None:
    bare = pod_object("bare", owners=(), containers=[container_status(restarts=5)])
    start = Start(evicting(), cluster_of(*drained(), bare))
    rows = lines_of(simulate([start], now=NOW, options=SimulationOptions()))

    assert "Not evicted: 1 pod (BarePod 1)" in rows
    assert "Why nothing: RemovePodsHavingTooManyRestarts: 1 pod selected, none evicted: 1 blocked by BarePod" in rows
