"""What is known of jobs and queues of Volcano in its next session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.explaining import settings_for
from descheduler.explanation.scheduling.volcano import (
    OpenedSession,
    QueueFacts,
    QueueResource,
    RoleFacts,
    VolcanoFacts,
    VolcanoJobFacts,
    job_table,
    queue_amounts,
    volcano_facts,
    volcano_tables,
)
from descheduler.explanation.scheduling.waiting import Scheduling
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.eviction.checks.volcano_jobs import pod_group, task, volcano_job
from tests.eviction.checks.volcano_jobs import queue as of_queue
from tests.placement.volcano.worlds import group, node, owned, plugin, pods, queue, scheduling, snapshot_of

CLUSTER = (
    node("a"),
    queue("team", guarantee={"resource": {"cpu": "1"}}, capability={"cpu": "6"}),
    queue("other"),
    queue("idle"),
    group("ring", queue="team", least=2, phase="Running", minTaskMember={"ps": 1, "worker": 1}),
    *owned(pods("ring", 1, on="a", role="ps")),
    *owned(pods("ring", 2, on="a", role="worker")),
    group("wide", queue="team", least=4, phase="Pending", minResources={"cpu": "40"}),
    *owned(pods("wide", 4, cpu="10")),
    group("rest", queue="other", phase="Running"),
    *owned(pods("rest", 6, on="a")),
)
TIERS = (("priority", "gang"), ("drf", "predicates", "proportion", "nodeorder"))


def settings(*tiers: Sequence[str]) -> SchedulingSettings:
    named = [{"plugins": [plugin(each) for each in tier]} for tier in tiers or TIERS]
    return SchedulingSettings(configuration=scheduling({"actions": "enqueue, allocate", "tiers": named}))


def of(objects: Iterable[Object], *tiers: Sequence[str]) -> Scheduling:
    return Scheduling.of(snapshot_of(*objects), settings(*tiers))


def opened(objects: Iterable[Object] = CLUSTER, *tiers: Sequence[str]) -> OpenedSession:
    found = OpenedSession.of(*of(objects, *tiers))
    assert found is not None
    return found


def job(name: str, objects: Iterable[Object] = CLUSTER, *tiers: Sequence[str]) -> VolcanoJobFacts:
    session = opened(objects, *tiers)
    return session.job_facts(session.session.jobs[name])


def test_cluster_in_which_nothing_of_volcano_was_read_has_no_session() -> None:
    from tests.explanation.questions import cluster_of

    scheduling = Scheduling.of(cluster_of(node_object("a")), settings_for(None))

    assert OpenedSession.of(*scheduling) is None
    assert volcano_facts([], *scheduling) is None


def test_jobs_of_a_queue_are_those_that_name_it_in_the_order_in_which_they_are_tried() -> None:
    session = opened()

    assert [each.id for each in session.jobs_in("team")] == ["batch/wide", "batch/ring"]
    assert session.jobs_in("idle") == []


@pytest.mark.parametrize(
    ("tiers", "name", "tier"),
    [
        pytest.param(TIERS, "proportion", 2, id="proportion"),
        pytest.param((("capacity", "gang"),), "capacity", 1, id="capacity"),
        pytest.param((("gang",), ("predicates",)), "", None, id="none"),
    ],
)
def test_plugin_that_shares_the_cluster_out_is_found_with_its_tier(
    tiers: Sequence[Sequence[str]], name: str, tier: int | None
) -> None:
    session = opened(CLUSTER, *tiers)

    assert session.sharing()[:2] == (name, tier)
    assert (session.account_of("team") is None) is (tier is None)


def test_queue_without_an_account_deserves_and_holds_nothing() -> None:
    def facts(name: str, *tiers: Sequence[str]) -> tuple[object, ...]:
        found = opened(CLUSTER, *tiers).queue_facts(name)
        return found.plugin, found.tier, found.share, found.is_overused

    assert facts("team") == ("proportion", 2, 0.6, False)
    assert facts("other") == ("proportion", 2, 1.2, True)
    assert facts("idle") == ("", None, None, False)
    assert facts("team", ("gang",), ("predicates",)) == ("", None, None, False)


def resource(**change: Any) -> QueueResource:
    given: dict[str, Any] = {"guarantee": 0, "deserved": None, "capability": None}
    return QueueResource(resource="cpu", **given | {"allocated": 0, "requested": 0, "inqueue": 0} | change)


def test_resources_of_a_queue_are_those_of_its_account() -> None:
    session = opened()

    team, idle = (session.queue_facts(name).resources for name in ("team", "idle"))

    assert team[0] == resource(guarantee=1000, deserved=5000, capability=6000, allocated=3000, requested=43000)
    assert idle[0] == resource()
    assert [each.resource for each in team] == ["cpu", "memory"]


def test_what_is_asked_for_in_a_queue_is_one_of_its_resources() -> None:
    gpus = owned(pods("ring", 1, on="a"))
    gpus[0]["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    objects = (
        node("a", **{"example.com/gpu": "2"}),
        queue("team", deserved={"example.com/net": "1"}),
        group("ring", queue="team", phase="Running"),
        *gpus,
    )

    found = opened(objects).queue_facts("team").resources

    assert [each.resource for each in found] == ["cpu", "memory", "example.com/gpu", "example.com/net"]


def test_job_that_runs_has_its_tasks_and_its_share() -> None:
    assert job("batch/ring") == VolcanoJobFacts(
        name="batch/ring",
        queue="team",
        phase="Running",
        priority=0,
        min_available=2,
        num_ready=3,
        num_left=2,
        on_evicted="",
        num_pending=0,
        is_admitted=True,
        dominant_share=0.3,
        tasks=(RoleFacts(name="ps", num_ready=1, minimum=1), RoleFacts(name="worker", num_ready=2, minimum=1)),
        message="",
    )
    assert job("batch/ring", CLUSTER, ("gang",)).dominant_share is None


def test_job_that_is_not_admitted_says_why() -> None:
    found = job("batch/wide")

    assert (found.phase, found.num_pending, found.is_admitted, found.num_ready) == ("Pending", 4, False, 0)
    assert found.message.startswith("job batch/wide is not admitted to queue team")


def test_job_whose_pods_are_all_placed_is_not_said_to_wait() -> None:
    assert job("batch/rest").message == ""


def test_job_without_pods_says_why_it_is_not_admitted() -> None:
    idle = group("idle", queue="team", least=3, phase="Pending", minResources={"cpu": "60"})

    found = job("batch/idle", [node("a"), queue("team"), idle])

    assert (found.num_pending, found.is_admitted) == (0, False)
    assert "60 CPU of 10" in found.message


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param({}, "queue closed", id="a pod that asks for room"),
        pytest.param({"schedulingGates": [{"name": "wait"}]}, "", id="one that waits for a gate"),
        pytest.param({"containers": [{"name": "main"}]}, "", id="one that asks for nothing"),
    ],
)
def test_job_that_is_admitted_says_why_its_pods_are_not_tried(spec: Object, said: str) -> None:
    full = group("full", queue="closed", least=1, phase="Inqueue")
    closed = {**queue("closed", capability={"cpu": "1"}), "status": {"state": "Open"}}
    (waiting,) = pods("full", 1, role="more")
    waiting["spec"] |= spec

    found = job("batch/full", [node("a"), closed, full, *pods("full", 1, on="a"), waiting])

    assert (found.num_pending, found.is_admitted) == (1, True)
    assert said in found.message
    assert bool(found.message) is bool(said)


def test_pods_of_a_job_are_tried_together_with_the_others_that_wait() -> None:
    """Two pods are needed, and a pod that has finished or has a node is none of them."""
    done = [{**pod, "status": {"phase": "Failed"}} for pod in pods("ring", 1, role="done")]
    objects = [node("a"), node("b"), queue("team"), group("ring", queue="team", least=2), *done]

    def tried(number: int) -> str:
        scheduling = of([*objects, *pods("ring", number)])
        (first, *_) = (pod for pod in scheduling.cluster.snapshot.pods if pod.name == "ring-0")
        return scheduling.why_pending(first)

    assert tried(1).endswith("job batch/ring has 1 of 2 tasks that it needs (NotEnoughTasks)")
    assert tried(2) == "2/2 nodes are available"


def with_policies(of_job: str = "", of_worker: str = "") -> VolcanoJobFacts:
    """A job of a task ps and two of workers, whose policies for an evicted pod are these."""

    def policies(action: str) -> list[Object]:
        return [{"event": "PodEvicted", "action": action}] if action else []

    made = volcano_job(policies(of_job), [{"name": "worker", "replicas": 2, "policies": policies(of_worker)}])
    members = [task("ps-0", "ps"), task("w-0", "worker"), task("w-1", "worker")]
    nodes = [node_object("drained"), node_object("room")]
    return job("default/train", [*nodes, pod_group(), made, *members])


@pytest.mark.parametrize(
    ("of_job", "of_worker", "said", "num_left"),
    [
        pytest.param("", "", "", 2, id="none"),
        pytest.param("RestartJob", "RestartJob", "RestartJob", 0, id="a restart of the job"),
        pytest.param("TerminateJob", "TerminateJob", "TerminateJob", 0, id="an end of the job"),
        pytest.param("AbortJob", "SyncJob", "ps: AbortJob, worker: SyncJob", 0, id="the fewest of all tasks"),
        pytest.param("", "RestartTask", "ps: none, worker: RestartTask", 1, id="a restart of a task"),
    ],
)
def test_policies_say_what_is_left_after_an_eviction(of_job: str, of_worker: str, said: str, num_left: int) -> None:
    found = with_policies(of_job, of_worker)

    assert (found.num_ready, found.on_evicted, found.num_left) == (3, said, num_left)


def test_facts_are_of_the_jobs_of_pods_that_volcano_schedules() -> None:
    scheduling = of(CLUSTER)
    by_name = {pod.name: pod for pod in scheduling.cluster.snapshot.pods}

    facts = volcano_facts([by_name["ringps-0"], by_name["ringworker-0"], by_name["rest-0"]], *scheduling)

    assert facts is not None
    assert [each.name for each in facts.jobs] == ["batch/ring", "batch/rest"]
    assert [each.name for each in facts.queues] == ["team", "other"]


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([node_object("a"), of_queue(), pod_object("p")], id="of another scheduler"),
        pytest.param([node_object("a"), *pods("lost", 1)], id="of a job that does not exist"),
    ],
)
def test_pods_that_belong_to_no_job_have_no_facts(objects: list[Object]) -> None:
    scheduling = of(objects)

    assert volcano_facts(scheduling.cluster.snapshot.pods, *scheduling) is None


def test_amounts_are_told_and_what_is_not_limited() -> None:
    stated = resource(guarantee=1000, deserved=2000, capability=3000, allocated=500, requested=1500, inqueue=0)

    assert queue_amounts(stated) == ["cpu", "1", "2", "3", "500m", "1500m", "0"]
    assert queue_amounts(resource()) == ["cpu", "0", "", "unlimited", "0", "0", "0"]


def table(facts: VolcanoFacts | None) -> list[str]:
    return [" ".join(line.split()) for line in volcano_tables(facts, TableStyle()) if line]


QUEUE = QueueFacts(
    name="team",
    state="Open",
    weight=1,
    priority=0,
    is_reclaimable=True,
    parent="",
    hierarchy="",
    plugin="proportion",
    tier=2,
    share=0.6,
    is_overused=False,
    resources=(resource(deserved=5000),),
)


def test_tables_have_a_row_for_each_job_and_each_resource_of_its_queue() -> None:
    assert table(None) == []
    assert table(VolcanoFacts(jobs=(), queues=(QUEUE,))) == [
        "QUEUE RESOURCE GUARANTEE DESERVED CAPABILITY ALLOCATED REQUESTED INQUEUE SHARE OVERUSED",
        "team cpu 0 5 unlimited 0 0 0 0.6 no",
    ]


def test_job_table_leaves_out_what_there_is_nothing_to_say_of() -> None:
    plain = VolcanoJobFacts("batch/a", "team", "Running", 5, 1, 3, 2, "", 0, True, None, (), "")
    odd = VolcanoJobFacts("batch/b", "team", "Pending", 5, 1, 0, 0, "RestartJob", 2, False, 0.25, (), "no room")

    lines = [" ".join(line.split()) for line in job_table([plain, odd], TableStyle()) if line]

    assert lines[1:] == [
        "batch/a team Running 5 1 3 2 0 yes -",
        "batch/b team Pending 5 1 0 0 2 no 0.25",
        "JOB POLICY FOR PodEvicted",
        "batch/b RestartJob",
        "JOB REASON",
        "batch/b no room",
    ]
