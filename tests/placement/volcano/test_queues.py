"""Plugins proportion, capacity and overcommit (volcano.md §9): limits of queues, admission, and whom they give up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks
from tests.placement.volcano.worlds import Object, group, node, plugin, pods, queue, session, tasks_of


def started(name: str, *objects: Any, **arguments: Any) -> tuple[Session, Callbacks]:
    """A session over a node of 10 CPU for 10 pods, and what the plugin has registered with it."""
    made = session(node("a", pods="10"), *objects, tiers=[[plugin(name, arguments=arguments)]])
    return made, made.tiers.tiers[0][0].callbacks


def job(name: str, *, running: int = 0, waiting: int = 0, cpu: str = "1", **spec: Any) -> list[Object]:
    """A job of the queue of that name."""
    return [
        group(name, queue=name, phase="Running", **spec),
        *pods(name, running, on="a", cpu=cpu, memory=""),
        *pods(name, waiting, cpu=cpu, memory="", role="waits"),
    ]


def shares_of(made: Session, name: str) -> QueueShares:
    """The accounts of a plugin."""
    shares = made.accounts[name]
    assert isinstance(shares, QueueShares)
    return shares


@pytest.mark.parametrize(
    ("held", "is_overused", "has_room"),
    [
        pytest.param(4, False, True, id="one CPU below what it deserves"),
        pytest.param(5, True, False, id="as much as it deserves"),
        pytest.param(6, True, False, id="more than it deserves"),
    ],
)
def test_queue_under_proportion_gets_what_it_deserves(held: int, is_overused: bool, has_room: bool) -> None:
    """Two queues of one weight that want all of it. Pods without requests for memory need none, and deserve none."""
    made, callbacks = started(
        "proportion", [queue("red"), queue("blue")], job("red", running=held, waiting=10), job("blue", waiting=10)
    )
    red, task = made.queues["red"], tasks_of(made)["redwaits-0"]

    assert shares_of(made, "proportion").by_queue["red"].deserved["cpu"] == pytest.approx(5000)
    assert callbacks.overused is not None
    assert callbacks.overused(red) is is_overused
    assert callbacks.allocatable is not None
    assert callbacks.allocatable(red, task) is has_room


@pytest.mark.parametrize(
    ("spec", "held", "has_room"),
    [
        pytest.param({"deserved": {"cpu": "2"}}, 9, True, id="it borrows what nobody else has"),
        pytest.param({"deserved": {"cpu": "2"}}, 10, False, id="not more than there is"),
        pytest.param({"deserved": {"cpu": "2"}, "capability": {"cpu": "4"}}, 3, True, id="up to its capability"),
        pytest.param({"deserved": {"cpu": "2"}, "capability": {"cpu": "4"}}, 4, False, id="not beyond its capability"),
        pytest.param({"deserved": {"cpu": "2"}, "capability": {"cpu": "0"}}, 9, True, id="a capability of 0 is none"),
    ],
)
def test_queue_under_capacity_borrows_up_to_its_capability(spec: Object, held: int, has_room: bool) -> None:
    made, callbacks = started("capacity", queue("red", **spec), job("red", running=held, waiting=1))

    assert callbacks.allocatable is not None
    assert callbacks.allocatable(made.queues["red"], tasks_of(made)["redwaits-0"]) is has_room


@pytest.mark.parametrize(("held", "may_reclaim"), [(1, True), (2, False)])
def test_queue_under_capacity_reclaims_up_to_what_it_deserves(held: int, may_reclaim: bool) -> None:
    made, callbacks = started("capacity", queue("red", deserved={"cpu": "2"}), job("red", running=held, waiting=1))

    assert callbacks.preemptive is not None
    assert callbacks.preemptive(made.queues["red"], tasks_of(made)["redwaits-0"]) is may_reclaim


@pytest.mark.parametrize(
    ("spec", "deserved"),
    [
        pytest.param({"deserved": {"cpu": "3"}}, 3000, id="what it states"),
        pytest.param({"deserved": {"cpu": "9"}}, 4000, id="no more than it asks for"),
        pytest.param({"deserved": {"cpu": "3"}, "capability": {"cpu": "2"}}, 2000, id="no more than its capability"),
        pytest.param({"deserved": {"cpu": "1"}, "guarantee": {"resource": {"cpu": "2"}}}, 2000, id="its guarantee"),
    ],
)
def test_what_a_queue_under_capacity_deserves(spec: Object, deserved: float) -> None:
    made, _ = started("capacity", queue("red", **spec), job("red", waiting=4))

    assert shares_of(made, "capacity").by_queue["red"].deserved["cpu"] == deserved


def given_up(name: str, spec: Object, *, held: int, asks: str = "1") -> list[str]:
    """The tasks of a queue that holds so many CPU which go for one of another queue."""
    made, callbacks = started(
        name,
        [queue("rich", **spec), queue("poor", deserved={"cpu": "9"})],
        [*job("rich", running=held, waiting=9), *job("poor", waiting=9, cpu=asks)],
    )
    tasks = tasks_of(made)
    assert callbacks.reclaimable is not None
    candidates = [tasks[f"rich-{place}"] for place in range(held)]
    return [task.pod.name for task in callbacks.reclaimable(tasks["poorwaits-0"], candidates).tasks]


@pytest.mark.parametrize(
    ("name", "spec", "held", "victims"),
    [
        pytest.param("proportion", {}, 7, 2, id="down to what it deserves"),
        pytest.param("proportion", {}, 5, 0, id="nothing where it holds that"),
        pytest.param("capacity", {"deserved": {"cpu": "5"}}, 7, 2, id="down to what it states"),
        pytest.param("capacity", {"deserved": {"cpu": "7"}}, 7, 0, id="nothing where it holds what it states"),
        pytest.param(
            "capacity",
            {"deserved": {"cpu": "7", "memory": "99Gi", "pods": "9"}},
            7,
            0,
            id="nothing where it states all that it holds",
        ),
        pytest.param(
            "capacity",
            {"deserved": {"cpu": "7", "example.com/gpu": "1"}},
            7,
            7,
            id="all where it states what it does not hold",
        ),
        pytest.param("capacity", {"guarantee": {"resource": {"cpu": "6"}}}, 7, 1, id="down to its guarantee"),
    ],
)
def test_queue_gives_up_what_it_holds_beyond(name: str, spec: Object, held: int, victims: int) -> None:
    assert given_up(name, spec, held=held) == [f"rich-{place}" for place in range(victims)]


@pytest.mark.parametrize(("asks", "victims"), [("3", 2), ("7", 1), ("8", 0)])
def test_queue_that_holds_less_than_is_asked_for_gives_up_nothing(asks: str, victims: int) -> None:
    """It holds 7 CPU and deserves 5; after one task is gone it holds 6."""
    assert len(given_up("proportion", {}, held=7, asks=asks)) == victims


def test_queue_of_higher_priority_comes_first_then_that_with_the_smaller_share() -> None:
    made, callbacks = started(
        "capacity",
        [queue("high", priority=5, deserved={"cpu": "4"}), queue("red", deserved={"cpu": "4"})],
        [queue("blue", deserved={"cpu": "2"}), queue("none", priority=0)],
        [*job("high", running=3), *job("red", running=2, waiting=2), *job("blue", running=2), *job("none")],
    )
    assert callbacks.queue_order is not None

    assert callbacks.queue_order(made.queues["high"], made.queues["red"]) == -5
    assert callbacks.queue_order(made.queues["red"], made.queues["blue"]) == -0.5
    assert callbacks.queue_order(made.queues["none"], made.queues["red"]) == -0.5


def votes(name: str, least: Mapping[str, str] | None, *others: Any, **arguments: Any) -> int:
    """The vote on a job of the queue `red` that needs this."""
    spec: dict[str, Any] = {} if least is None else {"minResources": least}
    made, callbacks = started(name, *others, group("new", queue="red", phase="Pending", **spec), **arguments)
    assert callbacks.job_enqueueable is not None
    return callbacks.job_enqueueable(made.jobs["batch/new"])


RED = queue("red", capability={"cpu": "5"})
ADMITTED = group("admitted", queue="red", phase="Inqueue", minResources={"cpu": "2"})


@pytest.mark.parametrize("name", ["proportion", "capacity"])
@pytest.mark.parametrize(
    ("least", "others", "vote"),
    [
        pytest.param("5", [], PERMIT, id="its capability"),
        pytest.param("6", [], REJECT, id="more than its capability"),
        pytest.param("2", [*job("red", running=3)], PERMIT, id="what is left beside running tasks"),
        pytest.param("3", [*job("red", running=3)], REJECT, id="more than is left"),
        pytest.param("3", [ADMITTED], PERMIT, id="what is left beside admitted jobs"),
        pytest.param("4", [ADMITTED], REJECT, id="more than is left beside admitted jobs"),
    ],
)
def test_job_is_admitted_within_the_capability_of_its_queue(
    name: str, least: str, others: list[Object], vote: int
) -> None:
    assert votes(name, {"cpu": least}, RED, others) == vote


def test_what_a_job_holds_beyond_its_least_resources_does_not_keep_others_out() -> None:
    """5 CPU and 5 GiB are held; the least resources of that job are 2 of each."""
    elastic = group("red", queue="red", phase="Running", minResources={"cpu": "2", "memory": "2Gi", "pods": "1"})

    assert votes("capacity", {"cpu": "3"}, RED, elastic, pods("red", 5, on="a")) == PERMIT
    assert votes("capacity", {"cpu": "4"}, RED, elastic, pods("red", 5, on="a")) == REJECT


def test_job_that_is_permitted_counts_for_the_next_one() -> None:
    made, callbacks = started(
        "capacity", RED, [group(name, queue="red", phase="Pending", minResources={"cpu": "3"}) for name in ("a", "b")]
    )
    assert callbacks.job_enqueueable is not None

    assert [callbacks.job_enqueueable(made.jobs[f"batch/{name}"]) for name in ("a", "b")] == [PERMIT, REJECT]


@pytest.mark.parametrize(
    ("least", "others", "arguments", "vote"),
    [
        pytest.param("12", [], {}, PERMIT, id="a fifth more than there is"),
        pytest.param("13", [], {}, REJECT, id="more than that"),
        pytest.param("10", [], {"overcommit-factor": 1.0}, PERMIT, id="what there is"),
        pytest.param("11", [], {"overcommit-factor": 1.0}, REJECT, id="more than there is"),
        pytest.param("12", [], {"overcommit-factor": 0.9}, PERMIT, id="a factor below 1 is the default"),
        pytest.param("9", [*job("red", running=3)], {}, PERMIT, id="what is idle of it"),
        pytest.param("10", [*job("red", running=3)], {}, REJECT, id="more than is idle of it"),
        pytest.param("10", [ADMITTED], {}, PERMIT, id="what is left beside admitted jobs"),
        pytest.param("11", [ADMITTED], {}, REJECT, id="more than is left beside admitted jobs"),
        pytest.param(None, [*job("red", running=30)], {}, PERMIT, id="no least resources"),
    ],
)
def test_overcommit_admits_up_to_a_factor_of_the_cluster(
    least: str | None, others: list[Object], arguments: Mapping[str, float], vote: int
) -> None:
    assert votes("overcommit", None if least is None else {"cpu": least}, RED, others, **arguments) == vote


def test_overcommit_counts_what_it_is_told_of_as_admitted() -> None:
    made, callbacks = started(
        "overcommit", RED, [group(name, queue="red", phase="Pending", minResources={"cpu": "7"}) for name in ("a", "b")]
    )
    jobs = [made.jobs[f"batch/{name}"] for name in ("a", "b")]
    assert callbacks.job_enqueueable is not None
    assert callbacks.job_enqueued is not None
    assert callbacks.job_enqueueable(jobs[1]) == PERMIT

    callbacks.job_enqueued(jobs[0])

    assert callbacks.job_enqueueable(jobs[1]) == REJECT
