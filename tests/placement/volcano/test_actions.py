"""Actions of a session (volcano.md §7): whom enqueue admits, and for whom preempt and reclaim evict whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.placement.volcano.actions import FailedNodes
from descheduler.placement.volcano.jobs import Status
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    plugin,
    pods,
    priority_class,
    queue,
    renamed,
    session,
    tasks_of,
)

LOOSE_GANG = plugin("gang", enablePreemptable=False, enableReclaimable=False)
PRIORITY = [["priority", LOOSE_GANG], ["predicates"]]
CLASSES = [priority_class("low", 1), priority_class("mid", 5), priority_class("high", 10)]


def played(*objects: Any, actions: str = "preempt", tiers: Any = PRIORITY) -> Session:
    """The session after its actions."""
    made = session(*CLASSES, *objects, actions=actions, tiers=tiers)
    run_cycle(made)
    return made


def evicted(made: Session) -> list[str]:
    return [each.task.pod.name for each in made.evictions]


def waiting(made: Session) -> dict[str, str]:
    """The tasks that wait for the room of others, with their nodes."""
    names = made.cluster.table.names
    return {n: names[task.node] for n, task in tasks_of(made).items() if task.status is Status.PIPELINED}


def running(
    name: str, number: int = 1, *, on: str = "a", of: str = "low", queue: str = "default", **more: Any
) -> list[Object]:
    return [group(name, phase="Running", priorityClassName=of, queue=queue), *pods(name, number, on=on, **more)]


def urgent(number: int = 1, *, least: int = 1, of: str = "high", queue: str = "default", **more: Any) -> list[Object]:
    return [group("urgent", least=least, priorityClassName=of, queue=queue), *pods("urgent", number, **more)]


BY_MEMORY = plugin("binpack", arguments={"binpack.cpu": 0})


@pytest.mark.parametrize(
    ("jobs", "admitted"),
    [
        pytest.param({"a": "4", "b": "4"}, "ab", id="both fit"),
        pytest.param({"a": "4", "b": "9"}, "a", id="the second does not fit beside the first"),
        pytest.param({"a": "13", "b": "8"}, "b", id="the first does not fit"),
        pytest.param({"a": "", "b": "8"}, "ab", id="one without least resources always is"),
    ],
)
def test_jobs_are_admitted_one_after_the_other_as_far_as_plugins_let_them(
    jobs: Mapping[str, str], admitted: str
) -> None:
    least: dict[str, Any] = {name: {"minResources": {"cpu": cpu}} if cpu else {} for name, cpu in jobs.items()}
    objects = [group(name, phase="Pending", **least[name]) for name in jobs]

    made = played(
        node("a"),
        objects,
        actions="enqueue",
        tiers=[["gang", plugin("overcommit", arguments={"overcommit-factor": 1.2})]],
    )

    assert [job.group.name for job in made.jobs.values() if job.phase == "Inqueue"] == list(admitted)


def test_jobs_of_the_better_queue_and_of_higher_priority_are_admitted_first() -> None:
    queues = [queue("first", priority=9), queue("second", priority=1)]
    wanted: dict[str, Any] = {"minResources": {"cpu": "7"}, "phase": "Pending"}
    jobs = [
        group("a", queue="second", priorityClassName="high", **wanted),
        group("b", queue="first", priorityClassName="low", **wanted),
        group("c", queue="first", priorityClassName="high", **wanted),
    ]

    made = played(
        node("a"), queues, jobs, actions="enqueue", tiers=[["priority", "gang"], ["overcommit", "proportion"]]
    )

    assert [job.group.name for job in made.jobs.values() if job.phase == "Inqueue"] == ["c"]


@pytest.mark.parametrize(
    ("victim", "names"),
    [
        pytest.param(running("v", 2), ["v-1"], id="a job of lower priority"),
        pytest.param(running("v", 2, of="high"), [], id="one of the same priority"),
        pytest.param([queue("other"), *running("v", 2, queue="other")], [], id="one of another queue"),
        pytest.param(
            running("v", 2, metadata={"labels": {"volcano.sh/preemptable": "false"}}), [], id="not preemptable"
        ),
        pytest.param(running("v", 1) + running("w", 1, of="mid"), ["v-0"], id="the lowest of several"),
    ],
)
def test_starving_job_preempts_tasks_of_lower_jobs_of_its_queue(victim: list[Object], names: list[str]) -> None:
    made = played(node("a", cpu="2"), victim, urgent())

    assert evicted(made) == names
    assert waiting(made) == ({"urgent-0": "a"} if names else {})


def test_task_that_needs_the_room_of_several_preempts_as_many() -> None:
    made = played(node("a", cpu="4"), running("v", 3), running("w", 1, of="mid"), urgent(cpu="2"))

    assert evicted(made) == ["v-2", "v-1"]


def test_nobody_is_preempted_where_that_is_not_enough() -> None:
    assert evicted(played(node("a", cpu="4"), running("v", 2), running("w", 2, of="high"), urgent(cpu="3"))) == []
    assert evicted(played(node("a", cpu="4"), running("v", 2), running("w", 2, of="high"), urgent(cpu="2"))) == [
        "v-1",
        "v-0",
    ]


def test_idle_room_is_taken_before_others_are_preempted() -> None:
    """And what is being released."""
    made = played(node("a", cpu="3"), running("v", 2), urgent())
    assert (evicted(made), waiting(made)) == ([], {"urgent-0": "a"})

    leaving: Any = running("v", 2)
    leaving[1]["metadata"]["deletionTimestamp"] = "2026-06-30T12:00:00Z"
    made = played(node("a", cpu="2"), leaving, urgent())
    assert (evicted(made), waiting(made)) == ([], {"urgent-0": "a"})


def test_gang_that_does_not_get_enough_room_preempts_nobody() -> None:
    for least, names in ((2, ["v-1", "v-0"]), (3, [])):
        made = played(node("a", cpu="2"), running("v", 2), urgent(least, least=least))
        assert evicted(made) == names


def test_task_goes_where_it_scores_highest() -> None:
    """By memory, of which b has less; no one is preempted on the other."""
    nodes = [node("a", cpu="4", memory="400Gi"), node("b", cpu="4")]
    jobs = [*running("v", 4, on="a"), *running("w", 4, on="b")]

    made = played(nodes, jobs, urgent(), tiers=[["priority", LOOSE_GANG], ["predicates", BY_MEMORY]])

    assert [made.cluster.table.names[each.node] for each in made.evictions] == ["b"]


def test_task_preempts_lower_ones_of_its_own_job() -> None:
    """Which starves as it wants more than its minimum."""
    made_of: Any = [group("job", phase="Running"), *pods("job", 2, on="a"), renamed("job-new", pods("job", 1))]
    for pod, priority in zip(made_of[1:], (1, 3, 2), strict=True):
        pod["spec"]["priority"] = priority

    made = played(node("a", cpu="2"), made_of, tiers=[["priority"], ["predicates"]])

    assert (evicted(made), waiting(made)) == (["job-0"], {"job-new": "a"})


def test_closed_nodes_are_not_cured_by_preemption() -> None:
    closed: Any = {**node("a", cpu="2"), "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}}

    assert evicted(played(closed, running("v", 2), urgent())) == []


def rich(number: int = 4, **more: Any) -> list[Object]:
    """A job of a queue that holds all of 4 CPU, where another queue deserves half of them."""
    return [queue("rich", **more.pop("spec", {})), queue("poor"), *running("big", number, queue="rich", **more)]


SHARING = [[LOOSE_GANG], ["predicates", "proportion"]]


@pytest.mark.parametrize(
    ("objects", "cpu", "names"),
    [
        pytest.param(rich(), "1", ["big-0"], id="what it holds beyond its share"),
        pytest.param(rich(), "2", ["big-1", "big-0"], id="as many as are needed, the last first"),
        pytest.param(rich(), "3", [], id="more than the queue deserves"),
        pytest.param(rich(spec={"reclaimable": False}), "1", [], id="a queue that is not reclaimable"),
        pytest.param(rich(metadata={"labels": {"volcano.sh/preemptable": "false"}}), "1", [], id="not preemptable"),
    ],
)
def test_queue_below_its_share_reclaims_tasks_of_others(objects: list[Object], cpu: str, names: list[str]) -> None:
    made = played(node("a", cpu="4"), objects, urgent(cpu=cpu, queue="poor"), actions="reclaim", tiers=SHARING)

    assert evicted(made) == names
    assert waiting(made) == ({"urgent-0": "a"} if names else {})


def test_queue_that_holds_what_it_deserves_reclaims_nothing() -> None:
    poor = running("small", 2, queue="poor")

    made = played(node("a", cpu="4"), rich(2), poor, urgent(queue="poor"), actions="reclaim", tiers=SHARING)

    assert evicted(made) == []


def test_pods_of_no_job_are_neither_preempted_nor_reclaimed() -> None:
    stranger: Any = pods("gone", 2, on="a")

    assert evicted(played(node("a", cpu="2"), stranger, urgent())) == []
    assert (
        evicted(
            played(node("a", cpu="2"), queue("poor"), stranger, urgent(queue="poor"), actions="reclaim", tiers=SHARING)
        )
        == []
    )


def mask(*nodes: int) -> Any:
    found = np.zeros(3, dtype=bool)
    found[list(nodes)] = True
    return found


@pytest.mark.parametrize(
    ("role", "arguments", "left"),
    [
        pytest.param("worker", {}, [False, False, True], id="a role"),
        pytest.param("", {}, [True, False, True], id="no role"),
        pytest.param("worker", {"predicateErrorCacheEnable": False}, [True, False, True], id="switched off"),
    ],
)
def test_nodes_that_refused_a_task_are_not_asked_for_others_of_its_role(
    role: str, arguments: Mapping[str, bool], left: Sequence[bool]
) -> None:
    from msgspec.structs import replace

    from descheduler.placement.configuration.volcano_arguments import Arguments

    made = session(*(node(name) for name in "abc"), group("job"), pods("job", 2, role=role))
    made.configuration = replace(made.configuration, action_arguments={"preempt": Arguments(dict(arguments))})
    made.action = "preempt"
    first, second = tasks_of(made).values()
    failed = FailedNodes(made)

    assert failed.left(first, mask(0, 1, 2), mask(1, 2)).tolist() == [False, True, True]
    assert failed.left(second, mask(0, 1, 2), mask(0, 2)).tolist() == list(left)


def test_other_roles_are_asked_anew() -> None:
    made = session(node("a"), node("b"), node("c"), group("job"), pods("job", 1, role="x"), pods("job", 1, role="y"))
    made.action = "preempt"
    first, second = tasks_of(made).values()
    failed = FailedNodes(made)
    failed.left(first, mask(0, 1, 2), mask(1, 2))

    assert failed.left(second, mask(0, 1, 2), mask(0, 2)).tolist() == [True, False, True]
