"""Laws of sessions: what is discarded was never there, gangs are whole, and queues keep to their capability."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.placement.volcano.jobs import Status
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.session import Session, Statement
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.cycle.digest import digest_of
from tests.placement.volcano.cycle.outcomes import outcomes

from .worlds import Object, group, node, plugin, pods, priority_class, queue, renamed, session, tasks_of

CAPACITY = (("priority", "gang"), ("drf", "predicates", "capacity", "nodeorder", "binpack"))
ALL_ACTIONS = "enqueue, allocate, preempt, reclaim, backfill"


@st.composite
def clusters(draw: st.DrawFn) -> list[Object]:
    """Nodes, queues with capabilities, and jobs that run or wait."""
    names = [f"n{index}" for index in range(draw(st.integers(1, 3)))]
    objects = [node(name, cpu=str(draw(st.integers(2, 6))), memory="8Gi") for name in names]
    objects += [priority_class("low", 1), priority_class("high", 100)]
    for name in ("red", "blue"):
        capability = {"cpu": str(draw(st.integers(2, 8)))}
        objects.append(queue(name, capability=capability, deserved={"cpu": str(draw(st.integers(1, 4)))}))
    for index in range(draw(st.integers(1, 5))):
        job, number = f"j{index}", draw(st.integers(1, 4))
        running = draw(st.integers(0, 1)) if draw(st.booleans()) else 0
        objects.append(
            group(
                job,
                least=draw(st.integers(1, number)),
                queue=draw(st.sampled_from(("red", "blue"))),
                phase=draw(st.sampled_from(("Pending", "Inqueue"))) if not running else "Running",
                priorityClassName=draw(st.sampled_from(("low", "high"))),
            )
        )
        cpu = draw(st.sampled_from(("500m", "1", "2", "")))
        objects += pods(job, number, cpu=cpu)
        if running:
            objects.append(renamed(f"{job}-old", pods(job, 1, on=draw(st.sampled_from(names)), cpu="500m")))
    return objects


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(clusters(), st.data())
def test_a_discarded_statement_restores_the_digest(objects: list[Object], data: st.DataObject) -> None:
    made = session(objects, tiers=CAPACITY)
    before = digest_of(made)
    statement = Statement(made)
    for task in tasks_of(made).values():
        place = data.draw(st.integers(0, len(made.cluster.table) - 1))
        if task.status is Status.PENDING:
            put = data.draw(st.sampled_from((statement.allocate, statement.pipeline)))
            put(task, place)
        elif task.can_be_preempted:
            statement.release(task)

    statement.discard()

    assert digest_of(made) == before


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(clusters())
def test_a_gang_is_bound_whole_or_not_at_all(objects: list[Object]) -> None:
    made = session(objects, actions=ALL_ACTIONS, tiers=CAPACITY)

    run_cycle(made)

    bound = {task.job for task, _ in made.binds.values()}
    evicted = {each.task.job for each in made.evictions}
    assert all(made.jobs[name].is_ready for name in bound - evicted)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(clusters())
def test_allocation_leaves_no_queue_above_its_capability(objects: list[Object]) -> None:
    made = session(objects, actions="allocate", tiers=CAPACITY)
    shares = made.accounts["capacity"]
    assert isinstance(shares, QueueShares)
    before = {name: account.allocated for name, account in shares.by_queue.items()}

    run_cycle(made)

    for name, account in shares.by_queue.items():
        limit = max(account.capability["cpu"], before[name]["cpu"])
        assert account.allocated["cpu"] <= limit


def _binds(objects: list[Object], choices: Choices) -> tuple[tuple[str, str], ...]:
    made = session(objects, choices=choices)
    run_cycle(made)
    return tuple(sorted((key, made.cluster.table.names[task.node]) for key, (task, _) in made.binds.items()))


def test_nodes_of_equal_score_are_all_outcomes() -> None:
    objects = [node("a"), node("b"), node("c", cpu="500m"), group("job"), *pods("job", 1)]

    found = outcomes(lambda choices: _binds(objects, choices), most=10)

    assert found.is_complete
    assert found.found == {(("batch/job-0", "a"),), (("batch/job-0", "b"),)}


def test_more_outcomes_than_may_be_tried_are_not_complete() -> None:
    objects = [*(node(name) for name in "abcdef"), group("job", least=3), *pods("job", 3)]

    found = outcomes(lambda choices: _binds(objects, choices), most=5)

    assert not found.is_complete
    assert len(found.found) == 5


def test_a_gang_that_lacks_one_node_is_not_bound() -> None:
    made = session(node("a", cpu="2"), group("job", least=3), pods("job", 3))

    run_cycle(made)

    assert made.binds == {}
    assert {task.status for task in tasks_of(made).values()} == {Status.PENDING}


def test_a_job_without_enough_room_is_not_admitted() -> None:
    wanting = group("job", phase="Pending", minResources={"cpu": "13"})
    made = session(node("a", cpu="10"), wanting, pods("job", 1), actions="enqueue", tiers=[["gang", "overcommit"]])

    run_cycle(made)

    assert made.jobs["batch/job"].phase == "Pending"


def test_overcommit_admits_jobs_beyond_what_is_idle() -> None:
    wanting = group("job", phase="Pending", minResources={"cpu": "12"})
    made = session(node("a", cpu="10"), wanting, pods("job", 1), actions="enqueue", tiers=[["gang", "overcommit"]])

    run_cycle(made)

    assert made.jobs["batch/job"].phase == "Inqueue"


def test_names_of_quotas_are_not_resources() -> None:
    """The controller of Jobs writes them beside the resources that they are about (`GetPodQuotaUsage`)."""
    resources = {"nvidia.com/gpu": "2", "requests.nvidia.com/gpu": "2", "requests.cpu": "2", "count/pods": "2"}
    wanting = group("job", phase="Pending", minResources=resources)
    made = session(
        node("a", **{"nvidia.com/gpu": "2"}), wanting, pods("job", 1), actions="enqueue", tiers=[["gang", "overcommit"]]
    )

    run_cycle(made)

    assert made.jobs["batch/job"].phase == "Inqueue"


def test_preempt_evicts_the_lowest_task_and_holds_its_room() -> None:
    made = session(
        node("a", cpu="2"),
        priority_class("high", 10),
        group("low", phase="Running"),
        pods("low", 2, on="a"),
        group("high", priorityClassName="high"),
        pods("high", 1),
        actions="allocate, preempt",
        tiers=[["priority", plugin("gang", enablePreemptable=False)], ["predicates"]],
    )

    run_cycle(made)

    assert [(each.task.pod.name, each.action) for each in made.evictions] == [("low-1", "preempt")]
    assert tasks_of(made)["high-0"].status is Status.PIPELINED


def test_preempt_tries_no_task_against_other_jobs_that_it_has_tried_within_its_own_job() -> None:
    """After each queue tasks of all starving jobs are tried within their jobs, whichever queue comes first.

    Where the other queue does, two pods wait for idle cores by then and the third is given up; the fourth evicts.
    """

    def preempted(choices: Choices) -> str:
        made = session(
            [node("a", cpu="4"), priority_class("high", 10), queue("other")],
            [group("low", phase="Running"), *pods("low", 2, on="a")],
            [group("elsewhere", queue="other", phase="Running"), *pods("elsewhere", 1, on="a", cpu="", memory="")],
            [group("urgent", least=3, priorityClassName="high"), *pods("urgent", 4)],
            actions="preempt",
            tiers=[["priority", plugin("gang", enablePreemptable=False)], ["predicates"]],
            choices=choices,
        )
        run_cycle(made)
        waiting = [name for name, task in tasks_of(made).items() if task.status is Status.PIPELINED]
        return " ".join([*(each.task.pod.name for each in made.evictions), "for", *waiting])

    found = outcomes(preempted, most=100)

    of_own_first, of_other_first = "urgent-0 urgent-1 urgent-2", "urgent-0 urgent-1 urgent-3"
    assert found.is_complete
    assert set(found.found) == {f"low-1 for {of_own_first}", f"low-1 for {of_other_first}"}


@pytest.mark.parametrize("is_reclaimable", [True, False], ids=["reclaimable", "not-reclaimable"])
def test_reclaim_takes_from_queues_that_say_so(is_reclaimable: bool) -> None:
    made = session(
        node("a", cpu="4"),
        queue("rich", reclaimable=is_reclaimable),
        queue("poor"),
        group("big", queue="rich", phase="Running"),
        pods("big", 4, on="a"),
        group("small", queue="poor"),
        pods("small", 1),
        actions="reclaim",
        tiers=[["gang"], ["predicates", "proportion"]],
    )

    run_cycle(made)

    assert len(made.evictions) == int(is_reclaimable)


@pytest.mark.parametrize(
    ("is_closed", "nodes"),
    [pytest.param(False, {"a"}, id="all may help"), pytest.param(True, {"a", "b"}, id="one is beyond help")],
)
def test_reclaim_takes_nodes_in_any_order_where_some_are_beyond_help(is_closed: bool, nodes: set[str]) -> None:
    closed = {**node("closed", cpu="1"), "spec": {"unschedulable": True}}

    def reclaimed(choices: Choices) -> str:
        made = session(
            [closed] if is_closed else [],
            [node("a", cpu="2"), node("b", cpu="2"), queue("rich"), queue("poor")],
            [group("big", queue="rich", phase="Running"), group("wide", queue="rich", phase="Running")],
            [*pods("big", 2, on="a"), *pods("wide", 2, on="b"), group("small", queue="poor"), *pods("small", 1)],
            actions="allocate, reclaim",
            tiers=[["gang"], ["predicates", "proportion"]],
            choices=choices,
        )
        run_cycle(made)
        return " ".join(made.cluster.table.names[each.node] for each in made.evictions)

    found = outcomes(reclaimed, most=100)

    assert (set(found.found), found.is_complete) == (nodes, True)


def test_a_guarantee_above_the_cluster_ends_the_scheduler() -> None:
    made = session(
        node("a", cpu="4"),
        queue("kept", guarantee={"resource": {"cpu": "5"}}),
        group("job", queue="kept"),
        pods("job", 1),
        tiers=[["gang"], ["predicates", "proportion"]],
    )

    run_cycle(made)

    assert made.fault == "Volcano ends: the guarantees of queues are more than the cluster has left for them"
    assert made.binds == {}


def _closed(made: Session) -> dict[str, str]:
    run_cycle(made)
    made.close()
    return {job.id: job.phase for job in made.jobs.values()}


def test_a_session_writes_phases_when_it_closes() -> None:
    made = session(node("a", cpu="2"), group("fits"), pods("fits", 1), group("lacks", least=4), pods("lacks", 4))

    assert _closed(made) == {"batch/fits": "Running", "batch/lacks": "Inqueue"}


def test_a_condition_of_an_earlier_session_does_not_make_a_ready_job_unknown() -> None:
    job = group("job", phase="Running")
    job["status"]["conditions"] = [{"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources"}]
    made = session(node("a"), job, pods("job", 2, on="a"))

    assert _closed(made) == {"batch/job": "Running"}


@pytest.mark.parametrize(
    ("cpu", "placed"), [pytest.param("4", True, id="enough-beside"), pytest.param("3", False, id="too-little-beside")]
)
def test_a_task_leaves_cpu_beside_idle_pieces_of_a_scarce_resource(cpu: str, placed: bool) -> None:
    """The node has 2 GPUs, of which each keeps 1 CPU."""
    rates = {
        "predicate.ProportionalEnable": True,
        "predicate.resources": "nvidia.com/gpu",
        "predicate.resources.nvidia.com/gpu.cpu": 1,
        "predicate.resources.nvidia.com/gpu.memory": 1,
    }
    made = session(
        node("a", cpu=cpu, **{"nvidia.com/gpu": "2"}),
        group("job"),
        pods("job", 1, cpu="2"),
        tiers=[["gang"], [plugin("predicates", arguments=rates)]],
    )

    run_cycle(made)

    assert (tasks_of(made)["job-0"].status is not Status.PENDING) is placed
