"""`explain queue`: what a queue of Volcano deserves and holds, its jobs, and why their pods are pending.

Pods, PodGroups and workloads of Volcano show the same of their own job and queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import explained_by
from descheduler.explanation.explaining import explain, settings_for
from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.scheduling.volcano import QueueResource, RoleFacts, VolcanoFacts, VolcanoJobFacts
from descheduler.explanation.subjects.group import GroupExplanation
from descheduler.explanation.subjects.pod import PodExplanation
from descheduler.explanation.subjects.pod_group import PodGroupExplanation
from descheduler.explanation.subjects.queue import QueueExplanation
from descheduler.placement.needs import landing_annotations
from descheduler.policy.load import load_policy
from descheduler.report.subjects import SUBJECTS, types_of
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, Object
from tests.eviction.checks.volcano_jobs import NODES, pod_group, task, volcano_job
from tests.eviction.checks.volcano_jobs import queue as of_queue
from tests.explanation.questions import explained
from tests.placement.volcano.worlds import group, node, owned, plugin, pods, queue, scheduling, snapshot_of

ROOT = Path(__file__).parents[3]
_CLUSTER = (
    node("a"),
    queue("team", guarantee={"resource": {"cpu": "1"}}, capability={"cpu": "6"}),
    queue("other"),
    group("ring", queue="team", least=2, phase="Running", minTaskMember={"ps": 1, "worker": 1}),
    *owned(pods("ring", 1, on="a", role="ps")),
    *owned(pods("ring", 2, on="a", role="worker")),
    group("wide", queue="team", least=4, phase="Pending", minResources={"cpu": "40"}),
    *owned(pods("wide", 4, cpu="10")),
    group("big", queue="team", least=1, phase="Inqueue"),
    *owned(pods("big", 1, cpu="2", memory="20Gi")),
    group("rest", queue="other", phase="Running"),
    *owned(pods("rest", 6, on="a")),
)


def _settings(*tiers: Sequence[str | Object], actions: str = "enqueue, allocate, reclaim") -> SchedulingSettings:
    named = [{"plugins": [plugin(each) if isinstance(each, str) else each for each in tier]} for tier in tiers]
    return SchedulingSettings(configuration=scheduling({"actions": actions, "tiers": named}))


_TIERS = _settings(["priority", "gang"], ["drf", "predicates", "proportion", "nodeorder"])


def _queue(name: str, *objects: Object, settings: SchedulingSettings = _TIERS) -> QueueExplanation:
    return explained(QueueExplanation, "queue", name, [queue("default"), *objects], settings=settings)


def _messages(found: QueueExplanation) -> dict[str, str]:
    return {job.name: job.message for job in found.jobs if job.message}


def test_queue_shows_what_it_deserves_and_holds() -> None:
    facts = _queue("team", *_CLUSTER).facts

    assert (facts.plugin, facts.tier, facts.is_overused, facts.is_reclaimable) == ("proportion", 2, False, True)
    assert facts.resources[0] == QueueResource(
        resource="cpu", guarantee=1000, deserved=5000, capability=6000, allocated=3000, requested=45000, inqueue=0
    )
    assert facts.share == 0.6


def test_jobs_are_counted_by_phase_in_the_order_in_which_they_are_tried() -> None:
    found = _queue("team", *_CLUSTER)

    assert found.phases == {"Inqueue": 1, "Pending": 1, "Running": 1}
    assert [job.name for job in found.jobs] == ["batch/big", "batch/wide", "batch/ring"]


def test_job_that_is_not_admitted_names_plugin_and_tier() -> None:
    assert _messages(_queue("team", *_CLUSTER))["batch/wide"] == (
        "job batch/wide is not admitted to queue team (plugin proportion in tier 2: minResources do not fit;"
        " 43 CPU of 6)"
    )


def test_job_that_no_node_takes_has_the_words_of_the_scheduler() -> None:
    assert _messages(_queue("team", *_CLUSTER))["batch/big"] == ("0/1 nodes are available: 1 Insufficient cpu")


def test_job_without_pods_says_why_it_is_not_admitted() -> None:
    waiting = group("idle", queue="team", least=3, phase="Pending", minResources={"cpu": "60"})

    found = _queue("team", node("a"), queue("team"), waiting)

    assert (found.jobs[0].num_pending, found.jobs[0].is_admitted) == (0, False)
    assert "60 CPU of 10" in _messages(found)["batch/idle"]


def test_job_that_is_admitted_now_is_no_riddle() -> None:
    found = _queue("team", node("a"), queue("team"), group("next", queue="team", phase="Pending"), *pods("next", 1))

    assert [(job.phase, job.is_admitted) for job in found.jobs] == [("Pending", True)]
    assert _messages(found) == {"batch/next": "not scheduled yet: 1/1 nodes are available"}


def test_queue_over_its_share_says_what_evictions_lead_to() -> None:
    found = _queue("other", *_CLUSTER)

    assert found.facts.is_overused
    assert found.notes == (
        "the queue holds more than it deserves (plugin proportion in tier 2): 6 CPU of 5; until it holds less, a"
        " replacement pod that requests some of it is not scheduled",
        "Volcano can evict its pods for other queues (reclaimable: true); plugins that decide: gang in tier 1;"
        " proportion in tier 2",
    )


def test_queue_of_capacity_borrows_up_to_its_capability() -> None:
    stated = queue("team", deserved={"cpu": "2", "memory": "4Gi"}, capability={"cpu": "8"})
    objects = (node("a"), stated, group("ring", queue="team", phase="Running"), *pods("ring", 4, on="a"))

    found = _queue("team", *objects, settings=_settings(["gang"], ["capacity", "predicates"]))

    assert found.notes[0] == (
        "the queue holds more than it deserves (plugin capacity in tier 2): 4 CPU of 2; it may hold up to its"
        " capability"
    )


@pytest.mark.parametrize(
    ("settings", "spec", "note"),
    [
        pytest.param(
            _settings(["gang", "proportion"], actions="enqueue, allocate"),
            {},
            "Volcano does not evict its pods for other queues: action reclaim is not configured",
            id="without the action",
        ),
        pytest.param(
            _TIERS,
            {"reclaimable": False},
            "Volcano does not evict its pods for other queues (reclaimable: false)",
            id="of a queue that is not reclaimable",
        ),
        pytest.param(
            _settings(["capacity"], [plugin("gang", enableReclaimable=False)]),
            {"deserved": {"cpu": "1", "memory": "1Gi"}},
            "Volcano can evict its pods for other queues (reclaimable: true); plugins that decide: capacity in tier 1",
            id="by the plugins whose switch is on",
        ),
        pytest.param(
            _settings(["gang"], ["predicates"]),
            {},
            "no plugin of the configuration shares the cluster out between queues (proportion or capacity)",
            id="without a plugin for queues",
        ),
    ],
)
def test_reclaiming_is_said(settings: SchedulingSettings, spec: dict[str, object], note: str) -> None:
    objects = (node("a"), queue("team", **spec), group("ring", queue="team", phase="Running"), *pods("ring", 1, on="a"))

    assert _queue("team", *objects, settings=settings).notes == (note,)


def test_queue_that_no_job_names_deserves_nothing_yet() -> None:
    found = _queue("team", node("a"), queue("team"), queue("other"), group("ring", queue="other"))

    assert (found.facts.plugin, found.facts.share, found.facts.is_overused) == ("", None, False)
    assert found.notes == (
        "no PodGroup names the queue, so that it deserves nothing yet (plugin proportion in tier 2)",
    )


def test_closed_queue_and_its_place_in_a_hierarchy_are_said() -> None:
    closed = {**queue("team", parent="other"), "status": {"state": "Closed"}}

    found = _queue("team", node("a"), closed, queue("other"), group("ring", queue="team"))

    assert (found.facts.state, found.facts.parent) == ("Closed", "other")
    assert found.notes[:2] == (
        "the queue is in state Closed: none of its pods is evicted (QueueNotOpen)",
        "parent: other is not part of the model: Volcano 1.10 does not read it",
    )
    assert _queue("other", node("a"), closed, queue("other")).children == ("team",)


def test_guarantees_beyond_the_cluster_are_said() -> None:
    greedy = queue("team", guarantee={"resource": {"cpu": "20"}})

    found = _queue("team", node("a"), greedy, group("ring", queue="team", phase="Running"), *pods("ring", 1))

    fault = "Volcano ends: the guarantees of queues are more than the cluster has left for them"
    assert found.notes[0] == fault
    assert _messages(found) == {"batch/ring": fault}


def test_queue_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        _queue("teem", *_CLUSTER)

    assert str(unknown.value) == "no queue 'teem' in objects; did you mean 'team'?"


def test_cluster_without_volcano_has_no_queues() -> None:
    with pytest.raises(UnknownSubjectError, match="no queues of Volcano in objects"):
        explained(QueueExplanation, "queue", "team", [node("a")])


def test_assumed_configuration_is_a_warning() -> None:
    found = explain("queue", "team", snapshot_of(*_CLUSTER), policy=None, settings=settings_for(None), now=NOW)

    assert any("default configuration of Volcano" in warning for warning in found.warnings)


def test_parts_that_are_not_modelled_are_a_warning() -> None:
    settings = _settings(["gang", "usage"], ["proportion"])

    found = explain("queue", "team", snapshot_of(*_CLUSTER), policy=None, settings=settings, now=NOW)

    assert found.warnings[-1] == (
        "the scheduler can decide otherwise than shown: parts of Volcano that are not modelled: usage"
    )


def _table(document: type[Fields], kind: str, name: str) -> str:
    answer = explain(kind, name, snapshot_of(*_CLUSTER), policy=None, settings=_TIERS, now=NOW)
    assert isinstance(answer.answer, document)
    return "\n".join(explained_by(types_of(SUBJECTS)[kind][1]).table(answer.answer, TableStyle()))


_JOB = VolcanoJobFacts(
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


@pytest.mark.parametrize(
    ("document", "kind", "name"),
    [
        pytest.param(PodExplanation, "pod", "batch/ringps-0", id="pod"),
        pytest.param(PodGroupExplanation, "podgroup", "batch/ring", id="podgroup"),
    ],
)
def test_pod_and_gang_show_their_job_and_its_queue(
    document: type[PodExplanation | PodGroupExplanation], kind: str, name: str
) -> None:
    found = explained(document, kind, name, [queue("default"), *_CLUSTER], settings=_TIERS).volcano

    assert found is not None
    assert found.jobs == (_JOB,)
    assert [(each.name, each.share) for each in found.queues] == [("team", 0.6)]


def test_gang_whose_queue_is_gone_says_so() -> None:
    lost = (node("a"), queue("team"), group("lost", queue="gone", phase="Running"), *pods("lost", 1, on="a"))

    found = explained(PodGroupExplanation, "podgroup", "batch/lost", lost, settings=_TIERS)

    assert (found.volcano, found.notes) == (
        None,
        ("queue gone does not exist: none of its pods is evicted (QueueNotOpen) or scheduled",),
    )


def test_workload_shows_the_jobs_and_queues_of_its_pods() -> None:
    found = explained(GroupExplanation, "replicaset", "batch/web", [queue("default"), *_CLUSTER], settings=_TIERS)

    assert isinstance(found.volcano, VolcanoFacts)
    assert [job.name for job in found.volcano.jobs] == ["batch/big", "batch/rest", "batch/ring", "batch/wide"]
    assert [each.name for each in found.volcano.queues] == ["team", "other"]


@pytest.mark.parametrize(
    ("of_job", "of_worker", "policy", "num_left"),
    [
        pytest.param("", "", "", 2, id="without a policy"),
        pytest.param("RestartJob", "RestartJob", "RestartJob", 0, id="a restart of the job leaves nothing"),
        pytest.param("AbortJob", "SyncJob", "ps: AbortJob, worker: SyncJob", 0, id="the fewest of all tasks"),
        pytest.param("", "RestartTask", "ps: none, worker: RestartTask", 1, id="a restart of a task"),
    ],
)
def test_job_shows_what_its_policies_leave(of_job: str, of_worker: str, policy: str, num_left: int) -> None:
    job = volcano_job(_policy(of_job), [{"name": "worker", "replicas": 2, "policies": _policy(of_worker)}])
    members = [task("ps-0", "ps"), task("w-0", "worker"), task("w-1", "worker")]

    found = explained(
        GroupExplanation, "job", "train", [*NODES, of_queue(), pod_group(), job, *members], settings=_TIERS
    ).volcano

    assert found is not None
    assert [(each.on_evicted, each.num_left, each.num_ready) for each in found.jobs] == [(policy, num_left, 3)]


def _policy(action: str) -> list[Object]:
    return [{"event": "PodEvicted", "action": action}] if action else []


def test_table_of_a_queue() -> None:
    assert _table(QueueExplanation, "queue", "other") == (
        "Queue other\n"
        "STATE   WEIGHT   PRIORITY   RECLAIMABLE   SHARE   OVERUSED   PLUGIN       TIER\n"
        "-       1        0          yes           1.2     yes        proportion   2\n"
        "\n"
        "RESOURCE   GUARANTEE   DESERVED   CAPABILITY   ALLOCATED   REQUESTED   INQUEUE\n"
        "cpu        0           5          9            6           6           0\n"
        "memory     0           6Gi        100Gi        6Gi         6Gi         0\n"
        "\n"
        "1 job: 1 Running\n"
        "\n"
        "JOB          QUEUE   PHASE     PRIORITY   MINMEMBER   READY   AFTER EVICTION   PENDING   ADMITTED"
        "   DRF SHARE\n"
        "batch/rest   other   Running   0          1           6       5                0         yes        0.6\n"
        "\n"
        "the queue holds more than it deserves (plugin proportion in tier 2): 6 CPU of 5; until it holds less, a"
        " replacement pod that requests some of it is not scheduled\n"
        "Volcano can evict its pods for other queues (reclaimable: true); plugins that decide: gang in tier 1;"
        " proportion in tier 2\n"
    )


def test_table_of_a_pod_shows_what_each_task_has_left() -> None:
    lines = _table(PodExplanation, "pod", "batch/ringps-0").splitlines()

    start = lines.index("JOB          TASK     MINTASKMEMBER   READY   AFTER EVICTION")
    assert lines[start + 1 : start + 3] == [
        "batch/ring   ps       1               1       0",
        "batch/ring   worker   1               2       1",
    ]


def test_plugin_and_tier_that_refuse_nodes_are_named() -> None:
    tainted = {**node("b"), "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}}

    found = explained(PodExplanation, "pod", "batch/big-0", [queue("default"), *_CLUSTER, tainted], settings=_TIERS)

    assert found.placement is not None
    assert "plugin predicates in tier 2 refuses nodes (TaintToleration)" in found.placement.notes


@pytest.mark.parametrize(
    ("name", "is_overused"),
    [pytest.param("speech", True, id="over its share"), pytest.param("vision", False, id="within its share")],
)
def test_queues_of_the_sample_are_told_apart(name: str, is_overused: bool) -> None:
    policy = load_policy(ROOT / "config" / "profiles" / "volcano.yaml", REGISTRY)
    dump = read_dump(
        [ROOT / "config" / "samples" / "volcano.jsonl.gz"], SnapshotRequest(annotations=landing_annotations())
    )

    answer = explain("queue", name, dump, policy=policy, settings=settings_for(policy), now=NOW).answer

    assert isinstance(answer, QueueExplanation)
    assert answer.facts.is_overused is is_overused
