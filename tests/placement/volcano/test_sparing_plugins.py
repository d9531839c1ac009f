"""Plugins conformance, pdb, gang and priority (volcano.md §8): which candidates they give up for others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks
from tests.placement.volcano.worlds import Object, group, node, plugin, pods, priority_class, renamed, session, tasks_of


def started(name: str, *objects: Any) -> tuple[Session, Callbacks]:
    """A session with the plugin alone, and what that has registered."""
    made = session(node("a", cpu="99", memory="999Gi"), *objects, tiers=[[plugin(name)]])
    return made, made.tiers.tiers[0][0].callbacks


def spared(name: str, *objects: Any, point: str = "preemptable") -> list[str]:
    """The candidates, all tasks but the pod `asks`, that the plugin does not give up for it."""
    made, callbacks = started(name, group("asks"), pods("asks", 1), *objects)
    tasks = tasks_of(made)
    candidates = [task for each, task in tasks.items() if each != "asks-0"]
    given = getattr(callbacks, point)(tasks["asks-0"], candidates).tasks
    return [task.pod.name for task in candidates if task not in given]


def running(name: str, number: int = 1, *, namespace: str = "batch", least: int = 1, **more: Any) -> list[Object]:
    """A job with so many running pods."""
    made: list[Object] = [group(name, phase="Running", least=least), *pods(name, number, on="a", **more)]
    for each in made:
        each["metadata"]["namespace"] = namespace
    return made


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_conformance_spares_pods_of_the_system(point: str) -> None:
    """By their namespace, or one of two classes; no other class counts."""
    jobs = [
        running("plain"),
        running("system", namespace="kube-system"),
        running("public", namespace="kube-public"),
        running("cluster", spec={"priorityClassName": "system-cluster-critical"}),
        running("node", spec={"priorityClassName": "system-node-critical"}),
        running("high", spec={"priorityClassName": "high"}),
    ]

    assert sorted(spared("conformance", *jobs, point=point)) == ["cluster-0", "node-0", "system-0"]


def budget(name: str, allowed: int, labels: Mapping[str, str]) -> Object:
    """A PodDisruptionBudget over the pods with these labels."""
    selector: Object = {"matchLabels": dict(labels)} if labels else {}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "batch"},
        "spec": {"selector": selector},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 9, "desiredHealthy": 1, "expectedPods": 9},
    }


def labelled(name: str, number: int, **labels: str) -> list[Object]:
    return running(name, number, metadata={"labels": labels})


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
@pytest.mark.parametrize(
    ("budgets", "names"),
    [
        pytest.param([], [], id="no budget"),
        pytest.param([budget("x", 2, {"app": "a"})], ["job-2"], id="those beyond what it allows"),
        pytest.param([budget("x", 0, {"app": "a"})], ["job-0", "job-1", "job-2"], id="all of one that allows none"),
        pytest.param([budget("x", 0, {"app": "b"})], [], id="a budget over other pods"),
        pytest.param([budget("x", 0, {})], [], id="a selector without conditions matches nothing"),
        pytest.param(
            [budget("x", 2, {"app": "a"}), budget("y", 1, {"app": "a"})], ["job-1", "job-2"], id="the tightest of two"
        ),
    ],
)
def test_pdb_spares_pods_beyond_their_budgets(budgets: list[Object], names: list[str], point: str) -> None:
    assert spared("pdb", *budgets, labelled("job", 3, app="a"), point=point) == names


def test_pdb_spares_pods_without_labels() -> None:
    assert spared("pdb", running("job")) == ["job-0"]


def test_candidates_that_another_budget_spares_count_too() -> None:
    """The first is within neither budget after all, and takes the place of the second in one of them."""
    budgets = [budget("none", 0, {"tier": "x"}), budget("one", 1, {"app": "a"})]
    first, second = labelled("first", 1, app="a", tier="x"), labelled("second", 1, app="a")

    assert spared("pdb", *budgets, first, second) == ["first-0", "second-0"]


@pytest.mark.parametrize(
    ("least", "names"), [(1, ["job-2"]), (2, ["job-1", "job-2"]), (3, ["job-0", "job-1", "job-2"])]
)
def test_gang_gives_up_tasks_down_to_the_minimum_of_their_job(least: int, names: list[str]) -> None:
    assert spared("gang", running("job", 3, least=least)) == names


@pytest.mark.parametrize(
    ("least", "number", "ready", "vote", "starves"),
    [(2, 2, True, PERMIT, False), (3, 2, False, REJECT, True), (1, 2, True, PERMIT, False)],
)
def test_gang_is_about_the_minimum_of_a_job(least: int, number: int, ready: bool, vote: int, starves: bool) -> None:
    made, callbacks = started("gang", running("job", number, least=least), group("empty"))
    job = made.jobs["batch/job"]

    assert callbacks.job_ready is not None
    assert callbacks.job_pipelined is not None
    assert callbacks.job_starving is not None
    assert (callbacks.job_ready(job), callbacks.job_pipelined(job), callbacks.job_starving(job)) == (
        ready,
        vote,
        starves,
    )


def test_gang_puts_jobs_that_lack_tasks_first_and_names_what_they_lack() -> None:
    made, callbacks = started(
        "gang",
        running("ready"),
        group("lacks", least=3),
        pods("lacks", 2),
        group("role", least=2, minTaskMember={"ps": 1, "worker": 1}),
        pods("role", 2, role="worker"),
    )
    ready, lacks, role = (made.jobs[f"batch/{name}"] for name in ("ready", "lacks", "role"))

    assert callbacks.job_order is not None
    assert callbacks.job_order(lacks, ready) < 0 < callbacks.job_order(ready, lacks)
    assert callbacks.job_order(lacks, role) == 0
    assert callbacks.job_valid is not None
    assert [callbacks.job_valid(job) for job in (ready, lacks, role)] == ["", "NotEnoughTasks", "NotEnoughPodsOfTask"]


def test_gang_notes_when_a_cycle_ends_which_jobs_lack_tasks() -> None:
    made, _ = started("gang", running("ready"), group("lacks", least=3), pods("lacks", 2))

    made.close()

    assert made.jobs["batch/ready"].conditions["Scheduled"] == "tasks in gang are ready to be scheduled"
    assert made.jobs["batch/lacks"].conditions["Unschedulable"] == "NotEnoughResources"
    assert [made.jobs[f"batch/{name}"].is_unschedulable for name in ("ready", "lacks")] == [False, True]


def test_priority_orders_jobs_and_tasks_and_wants_all_tasks_of_a_job() -> None:
    classes = [priority_class("low", 1), priority_class("high", 9)]
    made, callbacks = started(
        "priority",
        classes,
        group("low", priorityClassName="low", phase="Running"),
        pods("low", 1, on="a"),
        group("high", priorityClassName="high"),
        pods("high", 1, spec={"priority": 3}),
        renamed("other", pods("high", 1, spec={"priority": 5})),
    )
    low, high = made.jobs["batch/low"], made.jobs["batch/high"]
    tasks = tasks_of(made)

    assert callbacks.job_order is not None
    assert (callbacks.job_order(low, high), callbacks.job_order(high, low)) == (8, -8)
    assert callbacks.task_order is not None
    assert callbacks.task_order(tasks["high-0"], tasks["other"]) == 2
    assert callbacks.job_starving is not None
    assert [callbacks.job_starving(job) for job in (low, high)] == [False, True]
    assert callbacks.preemptable is not None
    given = callbacks.preemptable(tasks["other"], [tasks["low-0"], tasks["high-0"], tasks["other"]]).tasks
    assert [task.pod.name for task in given] == ["low-0", "high-0"]
