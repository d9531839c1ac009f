"""Plugin drf (volcano.md §8.4): dominant shares of jobs, and with hierarchies those of queues."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.volcano.plugins.drf import start
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks
from tests.placement.volcano.worlds import Object, group, node, plugin, pods, queue, renamed, session, tasks_of


def in_tree(name: str, path: str, weights: str = "", **spec: Any) -> Object:
    """A queue at this place of the hierarchy."""
    made = queue(name, **spec)
    made["metadata"]["annotations"] = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    return made


def started(*objects: Any, hierarchical: bool = True) -> tuple[Session, Callbacks]:
    """A session over a node of 10 CPU and 100 GiB, and what the plugin has registered with it."""
    made = session(node("a"), *objects, tiers=[[plugin("drf", enableHierarchy=hierarchical)]])
    return made, made.tiers.tiers[0][0].callbacks


def order(made: Session, callbacks: Callbacks, left: str, right: str) -> float:
    """The order of two queues."""
    assert callbacks.queue_order is not None
    return round(callbacks.queue_order(made.queues[left], made.queues[right]), 6)


def holding(name: str, cpu: int, *, waiting: int = 1, at: str | None = None, memory: str = "") -> list[Object]:
    """A job of the queue of that name: so many tasks of 1 CPU run, others wait."""
    running = pods(name, cpu, on="a", memory=memory)
    pending = [renamed(f"{name}-waits-{place}", pods(name, 1, memory=memory)) for place in range(waiting)]
    return [group(name, queue=at or name, phase="Running"), *running, *pending]


def test_queue_with_the_smaller_share_by_weight_comes_first() -> None:
    made, callbacks = started(
        [in_tree("red", "root/red", "1/2"), in_tree("blue", "root/blue", "1/1"), in_tree("idle", "root/idle")],
        [*holding("red", 3), *holding("blue", 2), *holding("idle", 0)],
    )

    assert order(made, callbacks, "red", "blue") == -0.05
    assert order(made, callbacks, "blue", "red") == 0.05
    assert order(made, callbacks, "idle", "red") == -0.15
    assert order(made, callbacks, "red", "red") == 0


@pytest.mark.parametrize("weight", ["0.5", "0", "-3", "heavy", ""])
def test_weight_that_is_below_1_or_cannot_be_read_is_1(weight: str) -> None:
    made, callbacks = started(
        [in_tree("red", "root/red", f"1/{weight}"), in_tree("blue", "root/blue", "1/1")],
        [*holding("red", 3), *holding("blue", 2)],
    )

    assert order(made, callbacks, "red", "blue") == 0.1


def test_branches_are_compared_before_their_queues() -> None:
    """`science` holds more than `sales`, and its branch `small` less than `large`."""
    made, callbacks = started(
        [in_tree("small", "root/science/small", "1/1/1"), in_tree("large", "root/science/large", "1/1/1")],
        [in_tree("sales", "root/sales", "1/1")],
        [*holding("small", 1), *holding("large", 4), *holding("sales", 1)],
    )

    assert order(made, callbacks, "small", "large") == -0.3
    assert order(made, callbacks, "sales", "small") < 0
    assert order(made, callbacks, "large", "sales") > 0


def test_queue_that_can_get_no_more_comes_last() -> None:
    """Its job has all that it asks for; that of the other one waits for more, whatever it holds."""
    made, callbacks = started(
        [in_tree("full", "root/full", "1/9"), in_tree("wanting", "root/wanting", "1/1")],
        [*holding("full", 1, waiting=0), *holding("wanting", 5)],
    )

    assert order(made, callbacks, "full", "wanting") == 1
    assert order(made, callbacks, "wanting", "full") == -1


def test_queue_that_wants_only_what_is_given_out_comes_last() -> None:
    """All CPU is given out; the other queue wants memory alone."""
    of_memory = [group("memory", queue="memory"), *pods("memory", 1, on="a", cpu=""), *pods("more", 0)]
    wants_more = renamed("memory-waits", pods("memory", 1, cpu=""))
    made, callbacks = started(
        [in_tree("cpu", "root/cpu", "1/1"), in_tree("memory", "root/memory", "1/1")],
        [*holding("cpu", 10), *of_memory, wants_more],
    )

    assert order(made, callbacks, "memory", "cpu") == -1


def test_branch_holds_what_its_queues_hold_scaled_to_the_lowest_share_of_them() -> None:
    """Queues of a branch that hold 4 and 2 CPU count as 2 and 2; one that is full counts as it is."""
    queues = [in_tree(name, f"root/team/{name}", "1/1/1") for name in ("four", "two", "full")]
    made, callbacks = started(
        queues,
        in_tree("alone", "root/alone", "1/1"),
        [*holding("four", 4), *holding("two", 2), *holding("alone", 3, waiting=2)],
    )

    assert order(made, callbacks, "alone", "four") == -0.1

    made, callbacks = started(
        queues,
        in_tree("alone", "root/alone", "1/1"),
        [*holding("full", 4, waiting=0), *holding("two", 2), *holding("alone", 3)],
    )

    assert order(made, callbacks, "alone", "two") == -0.3


def reclaimed(*, of_rich: int, of_poor: int) -> list[str]:
    """The tasks of a queue that holds `of_rich` CPU that go for one of another which holds `of_poor`."""
    made, callbacks = started(
        [in_tree("rich", "root/rich", "1/1"), in_tree("poor", "root/poor", "1/1")],
        [*holding("rich", of_rich), *holding("poor", of_poor, waiting=2)],
    )
    tasks = tasks_of(made)
    candidates = [tasks[f"rich-{place}"] for place in range(of_rich)]
    assert callbacks.reclaimable is not None
    return [task.pod.name for task in callbacks.reclaimable(tasks["poor-waits-0"], candidates).tasks]


def test_tasks_are_reclaimed_of_queues_that_come_later_even_then() -> None:
    """Each candidate is looked at alone: its queue without it, and the other with what it asks for."""
    assert reclaimed(of_rich=4, of_poor=1) == ["rich-0", "rich-1", "rich-2", "rich-3"]
    assert reclaimed(of_rich=3, of_poor=1) == []
    assert reclaimed(of_rich=3, of_poor=0) == ["rich-0", "rich-1", "rich-2"]


def test_question_about_victims_leaves_the_order_of_queues_as_it_was() -> None:
    made, callbacks = started(
        [in_tree("rich", "root/rich", "1/1"), in_tree("poor", "root/poor", "1/1")],
        [*holding("rich", 4), *holding("poor", 1, waiting=2)],
    )
    tasks, before = tasks_of(made), order(made, callbacks, "poor", "rich")
    assert callbacks.reclaimable is not None

    callbacks.reclaimable(tasks["poor-waits-0"], [tasks["rich-0"]])

    assert order(made, callbacks, "poor", "rich") == before == -0.3


def test_shares_follow_what_tasks_hold() -> None:
    made, callbacks = started(
        [in_tree("red", "root/red", "1/1"), in_tree("blue", "root/blue", "1/1")],
        [*holding("red", 1, waiting=3), *holding("blue", 2)],
    )
    task = tasks_of(made)["red-waits-0"]

    made.allocate(task, 0)
    assert order(made, callbacks, "red", "blue") == 0

    made.take_back(task)
    assert order(made, callbacks, "red", "blue") == -0.1


def test_job_with_the_smaller_dominant_share_comes_first() -> None:
    """Of memory 30 %, of CPU 20 %. Without a hierarchy nothing is said of queues."""
    made, callbacks = started(
        [group("cpu", phase="Running"), *pods("cpu", 2, on="a", memory="1Gi")],
        [group("memory", phase="Running"), *pods("memory", 1, on="a", memory="30Gi")],
        hierarchical=False,
    )
    jobs = made.jobs["batch/cpu"], made.jobs["batch/memory"]

    assert callbacks.job_order is not None
    assert callbacks.job_order(*jobs) == pytest.approx(-0.1)
    assert (callbacks.queue_order, callbacks.reclaimable) == (None, None)


@pytest.mark.parametrize(
    ("running", "victims"),
    [
        pytest.param(3, ["low-0"], id="the same share after it has gone"),
        pytest.param(2, [], id="a smaller share"),
    ],
)
def test_share_after_a_victim_has_gone_is_at_least_that_of_the_initiator(running: int, victims: list[str]) -> None:
    """The other job holds 1 CPU and asks for 1."""
    made, callbacks = started(
        [group("low", phase="Running"), *pods("low", running, on="a", memory="")],
        [group("high", phase="Running"), *pods("high", 1, on="a", memory="")],
        renamed("asks", pods("high", 1, memory="")),
        hierarchical=False,
    )
    tasks = tasks_of(made)

    assert callbacks.preemptable is not None
    found = callbacks.preemptable(tasks["asks"], [tasks[f"low-{place}"] for place in range(running)]).tasks
    assert [task.pod.name for task in found] == victims


def test_plugin_starts_anew_in_each_cycle_where_it_keeps_a_tree() -> None:
    made, callbacks = started(group("job"), hierarchical=True)
    plain = start(made, next(iter(started(hierarchical=False)[0].configuration.plugins)))

    assert callbacks.reopen is None
    assert plain.reopen is not None
