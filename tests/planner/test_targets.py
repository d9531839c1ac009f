"""Targets of nodes as percent of what they have: what is over one, and in which words that is said."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.planner.utilization.targets import NO_CEILING, UsageTargets

RESOURCES = ("cpu", "memory", "pods")
TARGETS = UsageTargets({"memory": 50, "cpu": 57})


def usage(
    cpu: int, memory: int, pods: int = 0, *, allocatable: tuple[int, int, int] = (100, 1000, 10)
) -> NodeUtilization:
    return NodeUtilization(RESOURCES, np.array([cpu, memory, pods]), np.array(allocatable))


def test_ceilings_are_whole_and_none_where_there_is_no_target() -> None:
    allocatable = np.array([[100, 1001, 10], [0, 3, 1]])

    assert TARGETS.ceilings(RESOURCES, allocatable).tolist() == [[57, 500, NO_CEILING], [0, 1, NO_CEILING]]
    assert TARGETS.ceilings(("cpu",), np.array([100_000])).tolist() == [57_000]


@pytest.mark.parametrize(
    ("cpu", "memory", "over"),
    [(57, 500, ()), (58, 500, ("cpu",)), (57, 501, ("memory",)), (58, 501, ("cpu", "memory")), (0, 0, ())],
)
def test_a_node_is_over_a_target_above_it(cpu: int, memory: int, over: tuple[str, ...]) -> None:
    assert TARGETS.resources_over(usage(cpu, memory, 99)) == over


@pytest.mark.parametrize(
    ("need", "over"),
    [
        pytest.param([7, 0, 1], (), id="up to the target"),
        pytest.param([8, 0, 1], ("cpu",), id="above it"),
        pytest.param([1, 1, 1], ("memory",), id="a node that was over it"),
        pytest.param([0, 0, 1], (), id="nothing of what it is over"),
    ],
)
def test_what_comes_counts_where_it_takes_some(need: list[int], over: tuple[str, ...]) -> None:
    assert TARGETS.resources_over(usage(50, 600), np.array(need)) == over


def test_targets_are_written_as_the_policy_has_them() -> None:
    assert TARGETS.text == "cpu 57%, memory 50%"
    assert TARGETS.text_of(["memory"]) == "memory 50%"
    assert TARGETS.resolved == ""
    assert TARGETS.text_over(usage(93, 400), "requests") == (
        "CPU requests at 93% of allocatable (targetThresholds.cpu: 57)"
    )
    assert TARGETS.text_over(usage(10, 400), "requests") == ""
    assert TARGETS.text_over(usage(93, 1, allocatable=(0, 1000, 10)), "usage").startswith("CPU usage at 9300% of")


def test_targets_above_the_average_say_what_that_is() -> None:
    """Nodes are at 40 % and 60 % of their CPU; one has no memory."""
    nodes = [usage(40, 100), usage(60, 0, allocatable=(100, 0, 10))]

    targets = UsageTargets.above_average({"cpu": 10, "memory": 95}, nodes)

    assert targets.percent == {"cpu": 60.0, "memory": 100.0}
    assert targets.stated == {"cpu": 10, "memory": 95}
    assert targets.resolved == targets.text
    assert targets.text == "cpu 60%, 10 above the average of 50%, memory 100%, 95 above the average of 10%"
    assert targets.text_over(usage(61, 0), "requests") == (
        "CPU requests at 61% of allocatable (targetThresholds.cpu: 10 above the average of 50%)"
    )


def test_a_resource_that_no_node_has_gets_no_target() -> None:
    targets = UsageTargets.above_average({"cpu": 10}, [usage(1, 1, allocatable=(0, 10, 10))])

    assert targets.percent == {}
    assert targets.ceilings(RESOURCES, np.array([5, 5, 5])).tolist() == [NO_CEILING] * 3


def test_a_resource_without_a_target_is_not_over_one_however_much_is_taken() -> None:
    assert TARGETS.resources_over(usage(0, 0, 2**61)) == ()
    assert TARGETS.resources_over(usage(0, 0, 2**61), np.array([1, 1, 2**61])) == ()
