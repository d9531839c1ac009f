"""Tasks and jobs (volcano.md §1 and §3.1): what is read of pods, counters, minimums of roles, and phases."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.resources import Amounts
from tests.placement.volcano.worlds import Object, group, node, pods, session, snapshot_of, tasks_of

TASK = "volcano.sh/task"


def task_of(*, name: str = "job-0", **stated: Any) -> Task:
    """The task of a pod with these annotations, labels, parts of the spec and of the status."""
    made: Any
    (made,) = pods("job", 1, cpu=stated.get("cpu", "1"), memory=stated.get("memory", ""))
    made["metadata"] |= {"name": name, "labels": stated.get("labels", {})}
    made["metadata"]["annotations"] |= stated.get("annotations", {})
    made["spec"] |= stated.get("spec", {})
    made["status"] |= stated.get("status", {})
    return Task(snapshot_of(made).pods[0], -1)


@pytest.mark.parametrize(
    ("spec", "annotations", "priority"),
    [
        pytest.param({}, {}, 1, id="1 where nothing is stated"),
        pytest.param({"priority": 7}, {}, 7, id="that of the pod"),
        pytest.param({"priority": 0}, {}, 0, id="0 of the pod"),
        pytest.param({"priority": 7}, {f"{TASK}-priority": "-3"}, -3, id="the annotation comes first"),
        pytest.param({"priority": 7}, {f"{TASK}-priority": "high"}, 7, id="no integer"),
        pytest.param({"priority": 7}, {f"{TASK}-priority": ""}, 7, id="an empty annotation"),
    ],
)
def test_priority_of_a_task(spec: Object, annotations: Object, priority: int) -> None:
    assert task_of(spec=spec, annotations=annotations).priority == priority


@pytest.mark.parametrize(
    ("annotations", "labels", "is_preemptable"),
    [
        pytest.param({}, {}, True, id="true where nothing is stated"),
        pytest.param({"volcano.sh/preemptable": "false"}, {"volcano.sh/preemptable": "true"}, False, id="annotation"),
        pytest.param({}, {"volcano.sh/preemptable": "false"}, False, id="label"),
        pytest.param({"volcano.sh/preemptable": "maybe"}, {}, False, id="what cannot be read is false"),
    ],
)
def test_whether_a_task_is_preemptable(annotations: Object, labels: Object, is_preemptable: bool) -> None:
    assert task_of(annotations=annotations, labels=labels).is_preemptable is is_preemptable


@pytest.mark.parametrize(
    ("name", "index"),
    [("job-worker-3", 3), ("my-long-job-worker-12", 12), ("job-3", None), ("job-worker-x", None)],
)
def test_index_is_the_last_part_of_a_name_of_three(name: str, index: int | None) -> None:
    assert task_of(name=name).index == index


def test_task_that_asks_for_nothing_but_a_place_is_best_effort() -> None:
    assert [task_of(cpu=cpu).is_best_effort for cpu in ("", "1m", "1")] == [True, False, False]
    assert [task_of(spec={"schedulingGates": gates}).is_gated for gates in ([], [{"name": "x"}])] == [False, True]


@pytest.mark.parametrize(
    ("phase", "on", "is_terminating", "status"),
    [
        ("Running", "a", False, Status.RUNNING),
        ("Running", "a", True, Status.RELEASING),
        ("Pending", "a", False, Status.BOUND),
        ("Pending", "", False, Status.PENDING),
        ("Pending", "", True, Status.RELEASING),
        ("Succeeded", "a", False, Status.SUCCEEDED),
        ("Failed", "a", False, Status.FAILED),
        ("Unknown", "a", False, Status.UNKNOWN),
    ],
)
def test_status_is_that_of_the_pod(phase: str, on: str, is_terminating: bool, status: Status) -> None:
    (made,) = pods("job", 1, on=on)
    made["status"]["phase"] = phase
    made["metadata"] |= {"deletionTimestamp": "2026-07-01T00:00:00Z"} if is_terminating else {}

    assert Task(snapshot_of(node("a"), made).pods[0], 0).status is status


def test_overhead_comes_on_top_of_containers_and_not_of_init_containers() -> None:
    """As Volcano 1.10 has it; a sidecar runs beside the containers."""

    def container(name: str, cpu: str, **more: str) -> Object:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}

    def cpu_of(*init: Object, overhead: str = "500m") -> float:
        spec = {"containers": [container("main", "1")], "initContainers": [*init], "overhead": {"cpu": overhead}}
        return task_of(spec=spec).request["cpu"]

    assert cpu_of(container("init", "1200m")) == 1500
    assert cpu_of(container("init", "1800m")) == 1800
    assert cpu_of(container("sidecar", "1", restartPolicy="Always")) == 2500
    assert cpu_of(overhead="2") == 3000


RUNS, PENDS, DONE, FAILED = Status.RUNNING, Status.PENDING, Status.SUCCEEDED, Status.FAILED
BINDS, BOUND, GOES, WAITS, ALLOCATED = (
    Status.BINDING,
    Status.BOUND,
    Status.RELEASING,
    Status.PIPELINED,
    Status.ALLOCATED,
)
FREE = "asks for nothing"


def job_of(*tasks: Status | str | tuple[Status | str, str], least: int = 1, **spec: Any) -> Job:
    """A job whose tasks of 1 CPU are in these statuses, some of a role; `FREE` ones are pending without requests."""
    objects: list[Object] = []
    statuses = {}
    for place, stated in enumerate(tasks):
        status, role = stated if isinstance(stated, tuple) else (stated, "")
        free = status == FREE
        (made,) = pods("job", 1, cpu="" if free else "1", memory="", role=role)
        made["metadata"] |= {"name": f"t{place}", "uid": f"t{place}"}
        objects.append(made)
        statuses[f"t{place}"] = status if isinstance(status, Status) else PENDS
    made_session = session(node("a", cpu="99"), group("job", least=least, **spec), objects)
    job = made_session.jobs["batch/job"]
    for name, task in tasks_of(made_session).items():
        job.set_status(task, statuses[name])
    return job


@pytest.mark.parametrize(
    ("job", "ready", "pipelined", "starving"),
    [
        pytest.param(job_of(RUNS, BOUND, BINDS, ALLOCATED, DONE, least=5), True, True, False, id="all that count"),
        pytest.param(job_of(RUNS, BOUND, BINDS, ALLOCATED, DONE, least=6), False, False, True, id="one too few"),
        pytest.param(job_of(RUNS, GOES, FAILED, PENDS, least=2), False, False, True, id="those that do not count"),
        pytest.param(job_of(RUNS, WAITS, least=2), False, True, False, id="one waits for room"),
        pytest.param(job_of(RUNS, WAITS, least=3), False, False, True, id="one waits and one is missing"),
        pytest.param(job_of(RUNS, FREE, least=2), True, True, True, id="one that asks for nothing"),
        pytest.param(job_of(RUNS, FREE, least=3), False, False, True, id="one that asks for nothing, one missing"),
    ],
)
def test_job_is_ready_pipelined_or_starving_by_its_minimum(
    job: Job, ready: bool, pipelined: bool, starving: bool
) -> None:
    assert (job.is_ready, job.is_pipelined, job.is_starving) == (ready, pipelined, starving)


def test_counters_of_a_job() -> None:
    job = job_of(RUNS, RUNS, DONE, WAITS, PENDS, FREE, GOES, FAILED)

    assert (job.num_ready, job.num_waiting, job.num_pending_best_effort, job.num_valid) == (3, 1, 1, 6)
    assert (job.allocated["cpu"], job.requested["cpu"]) == (2000, 3000)


def test_job_without_a_task_is_as_before_it_came() -> None:
    job = job_of(RUNS, PENDS)
    state, task = job.state, next(job.of_status(RUNS))

    job.remove(task)
    assert (job.num_ready, job.allocated["cpu"], task.uid in job.tasks) == (0, 0, False)

    job.add(task)
    assert (job.num_ready, job.allocated["cpu"], job.state) == (1, 1000, state)


@pytest.mark.parametrize(
    ("job", "statuses", "has_roles"),
    [
        pytest.param(job_of((RUNS, "ps"), (RUNS, "worker"), least=2), (), True, id="each role has its minimum"),
        pytest.param(job_of((PENDS, "ps"), (RUNS, "worker"), least=2), (), False, id="a pending task does not count"),
        pytest.param(job_of((PENDS, "ps"), (RUNS, "worker"), least=2), (PENDS,), True, id="unless it is asked for"),
        pytest.param(job_of((FREE, "ps"), (DONE, "worker"), least=2), (), True, id="done, or asking for nothing"),
        pytest.param(job_of((RUNS, "worker"), (RUNS, "worker"), least=2), (), False, id="a role is missing"),
        pytest.param(
            job_of((RUNS, "worker"), least=1), (), True, id="a smaller minimum of the job: roles do not count"
        ),
    ],
)
def test_each_role_needs_its_minimum(job: Job, statuses: tuple[Status, ...], has_roles: bool) -> None:
    job.role_minimums, job.role_minimum_total = {"ps": 1, "worker": 1}, 2

    assert job.has_roles(*statuses) is has_roles


@pytest.mark.parametrize(
    ("job", "roles", "failed", "goes_on"),
    [
        pytest.param(job_of(PENDS, PENDS, least=2), {}, "t0", False, id="all tasks are needed"),
        pytest.param(job_of(PENDS, PENDS, least=1), {}, "t0", True, id="one more than needed"),
        pytest.param(
            job_of((PENDS, "a"), (PENDS, "b"), (PENDS, "b"), least=2), {"a": 1, "b": 2}, "t0", True, id="others do"
        ),
        pytest.param(
            job_of((PENDS, "a"), (PENDS, "b"), (PENDS, "b"), least=2),
            {"a": 1, "b": 2},
            "t1",
            False,
            id="too few others",
        ),
        pytest.param(
            job_of((PENDS, "a"), (RUNS, "a"), (PENDS, "b"), least=2),
            {"a": 1, "b": 1},
            "t0",
            True,
            id="its role is full",
        ),
        pytest.param(
            job_of((PENDS, "a"), (RUNS, "b"), (PENDS, "b"), least=2), {"a": 1, "b": 1}, "t0", False, id="its role lacks"
        ),
    ],
)
def test_other_tasks_are_tried_after_one_without_a_node_where_they_may_be_enough(
    job: Job, roles: dict[str, int], failed: str, goes_on: bool
) -> None:
    job.role_minimums, job.role_minimum_total = roles, sum(roles.values())
    job.refused[failed] = frozenset()

    assert job.goes_on is goes_on


@pytest.mark.parametrize(
    ("job", "phase", "is_unschedulable", "after"),
    [
        pytest.param(job_of(RUNS, RUNS, least=2), "Inqueue", False, "Running", id="enough tasks"),
        pytest.param(job_of(RUNS, PENDS, least=2), "Inqueue", False, "Inqueue", id="too few, and admitted"),
        pytest.param(job_of(RUNS, PENDS, least=2), "Running", False, "Pending", id="too few that ran"),
        pytest.param(job_of(RUNS, PENDS, least=2), "Inqueue", True, "Unknown", id="some run and the rest has no room"),
        pytest.param(job_of(PENDS, PENDS, least=2), "Inqueue", True, "Inqueue", id="none runs"),
        pytest.param(job_of(DONE, DONE, least=2), "Running", False, "Completed", id="all are done"),
        pytest.param(job_of(DONE, RUNS, least=2), "Running", False, "Running", id="not all are done"),
    ],
)
def test_phase_at_the_end_of_a_session(job: Job, phase: str, is_unschedulable: bool, after: str) -> None:
    job.phase, job.is_unschedulable = phase, is_unschedulable

    assert job.phase_after() == after


@pytest.mark.parametrize(
    ("least", "elastic"),
    [
        pytest.param({"cpu": "1"}, {}, id="memory is not more"),
        pytest.param({"cpu": "2"}, {}, id="as much cpu"),
        pytest.param(None, {}, id="no least resources, and no memory"),
    ],
)
def test_job_is_elastic_beyond_its_least_resources_in_all_dimensions_alone(least: Object | None, elastic: Any) -> None:
    spec: dict[str, Any] = {} if least is None else {"minResources": least}

    assert {name: amount for name, amount in job_of(RUNS, RUNS, **spec).elastic.items() if amount} == elastic


def test_what_is_elastic_is_what_it_holds_beyond() -> None:
    made = session(
        node("a"), group("job", minResources={"cpu": "1", "memory": "1", "pods": "1"}), pods("job", 2, on="a")
    )

    assert made.jobs["batch/job"].elastic == {"cpu": 1000, "memory": 2 * 1024**3 - 1, "pods": 1}


@pytest.mark.parametrize(
    ("phase", "running", "inqueue"),
    [
        pytest.param("Inqueue", 0, 3000, id="all of it once admitted"),
        pytest.param("Running", 2, 1000, id="what it does not hold yet, when enough tasks run"),
        pytest.param("Running", 1, 0, id="nothing when too few run"),
        pytest.param("Pending", 2, 0, id="nothing before it is admitted"),
    ],
)
def test_what_a_job_still_waits_for(phase: str, running: int, inqueue: float) -> None:
    job = job_of(*[RUNS] * running, PENDS, least=2, minResources={"cpu": "3"})
    job.phase = phase

    assert job.inqueue["cpu"] == inqueue


def test_least_resources_of_gated_tasks_are_not_waited_for() -> None:
    gated = pods("job", 1, cpu="2", memory="", spec={"schedulingGates": [{"name": "x"}]})
    made = session(node("a"), group("job", minResources={"cpu": "3"}), gated)

    wanted: Amounts = made.jobs["batch/job"].wanted

    assert wanted["cpu"] == 1000
