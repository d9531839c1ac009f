from __future__ import annotations

import logging

import pytest

from descheduler.report.plan.making import make_plan
from descheduler.telemetry.log_lines import log_plan
from tests.report.decided_cycles import make_test_plan
from tests.strategies.decided_worlds import World
from tests.strategies.quiet_worlds import QUIET


def logged(caplog: pytest.LogCaptureFixture, world: World) -> list[tuple[str, dict[str, object]]]:
    """The messages with their fields at verbosity 1, without the sums."""
    caplog.set_level(logging.INFO - 1, "descheduler")
    log_plan(make_plan(world.decisions()))
    return [
        (record.message, vars(record)["event_fields"])
        for record in caplog.records
        if "evictions/requests" not in record.message
    ]


@pytest.mark.parametrize(("world", "why"), [pytest.param(*case, id=name) for name, case in QUIET.items()])
def test_a_plugin_that_evicts_nothing_logs_why(caplog: pytest.LogCaptureFixture, world: World, why: str) -> None:
    lines = dict(logged(caplog, world))

    assert lines["Plugin evicts nothing"]["why"] == why
    assert lines["Plugin evicts nothing"]["strategy"] == world.plugin
    assert lines["No pod to evict"] == {"why": f"{world.plugin}: {why}"}


def test_low_node_utilization_logs_upstreams_lines(caplog: pytest.LogCaptureFixture) -> None:
    world, _ = QUIET["no node is overutilized"]
    names = {"profile": "p", "strategy": "LowNodeUtilization"}

    assert logged(caplog, world)[:5] == [
        ("Criteria for a node under utilization", {**names, "cpu": "20%"}),
        ("Number of underutilized nodes", {**names, "totalNumber": 1}),
        ("Criteria for a node above target utilization", {**names, "cpu": "70%"}),
        ("Number of overutilized nodes", {**names, "totalNumber": 0}),
        ("All nodes are under target utilization, nothing to do here", names),
    ]


def test_high_node_utilization_logs_upstreams_lines(caplog: pytest.LogCaptureFixture) -> None:
    world, _ = QUIET["no node is nearly empty"]
    names = {"profile": "p", "strategy": "HighNodeUtilization"}

    assert logged(caplog, world)[:3] == [
        ("Criteria for a node below target utilization", {**names, "cpu": "20%"}),
        ("Number of underutilized nodes", {**names, "totalNumber": 0}),
        ("No node is underutilized, nothing to do here, you might tune your thresholds further", names),
    ]


def test_without_verbosity_a_run_without_moves_logs_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "descheduler")

    log_plan(make_plan(QUIET["no pod has failed"][0].decisions()))

    assert [record.message for record in caplog.records] == ["No pod to evict", "Number of evictions/requests"]


def test_a_plugin_that_evicts_logs_no_such_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO - 1, "descheduler")

    log_plan(make_test_plan())

    assert not {"Plugin evicts nothing", "No pod to evict"} & {record.message for record in caplog.records}
