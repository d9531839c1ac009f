"""Sums over the tasks of a node (volcano.md §1.4), and what has room there."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.placement.volcano.jobs import Status, Task
from descheduler.placement.volcano.nodes import Nodes
from descheduler.placement.volcano.resources import QUANTUM
from tests.placement.volcano.worlds import group, node, pods, session, tasks_of

GPU = "nvidia.com/gpu"


def with_task(status: Status, *nodes: Any) -> tuple[Nodes, Task]:
    """Nodes of 10 CPU, and a task of 4 CPU that is added to the first one in this status."""
    made = session(*(nodes or [node("a")]), group("job"), pods("job", 1, cpu="4", memory=""))
    task = tasks_of(made)["job-0"]
    task.status, task.node = status, 0
    made.nodes.add(task)
    return made.nodes, task


@pytest.mark.parametrize(
    ("status", "idle", "used", "future"),
    [
        pytest.param(Status.RUNNING, 6000, 4000, 6000, id="running"),
        pytest.param(Status.BOUND, 6000, 4000, 6000, id="bound"),
        pytest.param(Status.RELEASING, 6000, 4000, 10_000, id="being released"),
        pytest.param(Status.PIPELINED, 10_000, 0, 6000, id="waiting for room"),
    ],
)
def test_task_counts_by_its_status(status: Status, idle: float, used: float, future: float) -> None:
    nodes, task = with_task(status)

    found = [nodes.amounts(columns, 0)[CPU] for columns in (nodes.idle, nodes.used, nodes.future_idle)]
    nodes.remove(task)

    assert found == [idle, used, future]
    assert [nodes.amounts(columns, 0)[CPU] for columns in (nodes.idle, nodes.used, nodes.future_idle)] == [
        10_000,
        0,
        10_000,
    ]
    assert nodes.tasks == [{}]


@pytest.mark.parametrize(
    ("cpu", "has_room"),
    [(6000, True), (6000 + QUANTUM / 2, True), (6000 + QUANTUM, False), (6001, False)],
)
def test_request_has_room_up_to_the_quantum(cpu: float, has_room: bool) -> None:
    nodes, _ = with_task(Status.RUNNING)

    assert nodes.has(nodes.idle, 0, {CPU: cpu}) is has_room
    assert nodes.have(nodes.idle, {CPU: cpu}).tolist() == [has_room]
    assert nodes.has(nodes.idle, 0, {CPU: cpu + 500}, {CPU: 500.0}) is has_room


def test_every_resource_needs_room_and_one_that_no_node_has_is_none() -> None:
    nodes, _ = with_task(Status.RUNNING, node("a", **{GPU: "1"}), node("b", memory="1"))
    nodes.know({"example.com/foo": 1.0})

    assert nodes.have(nodes.idle, {CPU: 1.0, MEMORY: 5.0}).tolist() == [True, False]
    assert nodes.have(nodes.idle, {CPU: 1.0, GPU: 1000.0}).tolist() == [True, False]
    assert nodes.have(nodes.idle, {"example.com/foo": 1.0}).tolist() == [False, False]
    assert nodes.scarce == {CPU, MEMORY, PODS, GPU}


def test_node_that_is_not_ready_is_not_there() -> None:
    broken = node("b")
    broken["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

    nodes, _ = with_task(Status.RUNNING, node("a"), broken)

    assert nodes.have(nodes.idle, {CPU: 1.0}).tolist() == [True, False]
    assert nodes.total[CPU] == 10_000


def test_cache_takes_bindings_while_the_node_has_room_for_them() -> None:
    """It knows nothing of what a session promises."""
    nodes, task = with_task(Status.PIPELINED)

    assert [nodes.bind(task) for _ in range(3)] == [True, True, False]
