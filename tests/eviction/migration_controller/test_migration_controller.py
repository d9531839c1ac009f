"""MigrationController: which pods may be migrated, by what they are and by the replicas of their workload."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.volcano import VolcanoJob, VolcanoTask
from descheduler.model.groups.workloads import Workload
from descheduler.model.verdict import Reason
from tests.builders import owner
from tests.eviction.migration_controller.koordinator_clusters import (
    make_cluster,
    make_job,
    make_koord_pod,
    make_plugin,
    make_workload,
)

EVICT = {"descheduler.alpha.kubernetes.io/evict": ""}
NEVER = {"scheduling.koordinator.sh/eviction-cost": "2147483647"}
LOCAL = [{"name": "logs", "hostPath": {"path": "/var/log"}}]


@pytest.mark.parametrize(
    ("args", "facts", "expected"),
    [
        pytest.param({}, {}, None, id="an ordinary replica may go"),
        pytest.param({}, {"annotations": NEVER}, Reason.EVICTION_COST, id="the highest eviction cost means never"),
        pytest.param({}, {"owners": ["DaemonSet/x"]}, Reason.DAEMON_SET, id="never a DaemonSet's pod"),
        pytest.param(
            {}, {"annotations": {"kubernetes.io/config.mirror": "x"}}, Reason.MIRROR_POD, id="never a mirror pod"
        ),
        pytest.param({}, {"deleted": 1}, Reason.TERMINATING, id="never a pod that is being deleted"),
        pytest.param({}, {"owners": (), "phase": "Failed"}, Reason.BARE_POD, id="no bare pod by default"),
        pytest.param(
            {"evictFailedBarePods": True}, {"owners": (), "phase": "Failed"}, None, id="failed bare pods on request"
        ),
        pytest.param({"evictFailedBarePods": True}, {"owners": ()}, Reason.BARE_POD, id="then running ones stay"),
        pytest.param({"evictAllBarePods": True}, {"owners": ()}, None, id="all bare pods on request"),
        pytest.param({"skipEvictionGates": ["BarePods"]}, {"owners": ()}, None, id="or by skipping the gate"),
        pytest.param({}, {"priority": 2_000_000_000}, Reason.SYSTEM_CRITICAL, id="no critical pod by default"),
        pytest.param(
            {"priorityThreshold": {"value": 10}},
            {"priority": 10},
            Reason.PRIORITY_THRESHOLD,
            id="none above the threshold",
        ),
        pytest.param(
            {"priorityThreshold": {"value": 10}, "evictSystemCriticalPods": True},
            {"priority": 10},
            None,
            id="the threshold goes with the protection of critical pods",
        ),
        pytest.param(
            {"priorityThreshold": {"value": 10}, "skipEvictionGates": ["PriorityThreshold"]},
            {"priority": 10},
            None,
            id="the threshold has a gate",
        ),
        pytest.param({}, {"volumes": LOCAL}, Reason.LOCAL_STORAGE, id="no local storage by default"),
        pytest.param({"evictLocalStoragePods": True}, {"volumes": LOCAL}, None, id="local storage on request"),
        pytest.param({}, {"claims": ["c"]}, None, id="claims are no obstacle by default"),
        pytest.param(
            {"ignorePvcPods": True}, {"claims": ["c"]}, Reason.PERSISTENT_VOLUME_CLAIM, id="claims on request"
        ),
        pytest.param({"namespaces": {"exclude": ["default"]}}, {}, Reason.NAMESPACE, id="an excluded namespace stays"),
        pytest.param({"namespaces": {"include": ["z"]}}, {}, Reason.NAMESPACE, id="so does one that is not included"),
        pytest.param(
            {"namespaces": {"include": ["z"]}, "skipEvictionGates": ["Namespaces"]},
            {},
            None,
            id="namespaces have a gate",
        ),
        pytest.param({"labelSelector": {"matchLabels": {"x": "y"}}}, {}, Reason.LABEL_SELECTOR, id="labels must match"),
        pytest.param(
            {"namespaces": {"exclude": ["default"]}},
            {"annotations": EVICT | NEVER, "deleted": 1, "owners": ()},
            None,
            id="the evict annotation beats all of these",
        ),
        pytest.param({}, {"scheduler": "default-scheduler"}, Reason.SCHEDULER_NAME, id="its scheduler must reserve"),
        pytest.param(
            {}, {"scheduler": "x", "annotations": EVICT}, Reason.SCHEDULER_NAME, id="whatever the annotation says"
        ),
        pytest.param(
            {},
            {"scheduler": "x", "labels": {"scheduling.koordinator.sh/scheduler-name": "koord-scheduler"}},
            None,
            id="a label overrides the scheduler",
        ),
        pytest.param({"schedulerNames": ["x"]}, {"scheduler": "x"}, None, id="other schedulers may be named"),
        pytest.param({"defaultJobMode": "EvictDirectly"}, {"scheduler": "x"}, None, id="direct eviction needs none"),
        pytest.param({"reservationProvider": "placeholder"}, {"scheduler": "x"}, None, id="nor does a placeholder"),
    ],
)
def test_what_the_pod_itself_answers(args: dict[str, Any], facts: dict[str, Any], expected: Reason | None) -> None:
    pod = make_koord_pod("p", **facts)

    assert make_plugin(make_cluster([pod]), **args).filter(pod).reason is expected


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        pytest.param(
            {"scheduler": "default-scheduler"},
            "scheduler default-scheduler does not support Reservations (schedulerNames: koord-scheduler); to evict"
            " such pods, set reservationProvider: placeholder or defaultJobMode: EvictDirectly",
            id="the ways to evict without Reservations",
        ),
        pytest.param(
            {"owners": (), "phase": "Failed"},
            "the failed pod has no owner that recreates it (evictFailedBarePods: false)",
            id="the switch for failed bare pods",
        ),
    ],
)
def test_refusals_name_the_setting_that_decides(facts: dict[str, Any], message: str) -> None:
    pod = make_koord_pod("p", **facts)

    assert make_plugin(make_cluster([pod])).filter(pod).message == message


@pytest.mark.parametrize(
    ("phase", "uid", "expected"),
    [
        pytest.param("Running", None, Reason.ALREADY_MIGRATING, id="a running job keeps its pod"),
        pytest.param("Pending", None, Reason.ALREADY_MIGRATING, id="so does a waiting one"),
        pytest.param("", None, Reason.ALREADY_MIGRATING, id="and one that nobody has looked at"),
        pytest.param("Running", "of its predecessor", Reason.ALREADY_MIGRATING, id="a pod of the same name waits"),
        pytest.param("Succeeded", None, None, id="a job that is done does not count"),
        pytest.param("Failed", None, None, id="nor does a failed one"),
    ],
)
def test_pod_with_a_live_job_stays(phase: str, uid: str | None, expected: Reason | None) -> None:
    pod = make_koord_pod("p", annotations=EVICT)

    plugin = make_plugin(make_cluster([pod], jobs=[make_job(pod, phase=phase, uid=uid)]))

    assert plugin.filter(pod).reason is expected


@pytest.mark.parametrize(
    ("facts", "phase"),
    [
        pytest.param({"phase": "Running"}, "Running", id="by the name of the pod"),
        pytest.param({"phase": "", "uid": "of its predecessor"}, "Pending", id="or by that of its predecessor"),
    ],
)
def test_job_that_migrates_a_pod_is_named(facts: dict[str, Any], phase: str) -> None:
    pod = make_koord_pod("p")

    verdict = make_plugin(make_cluster([pod], jobs=[make_job(pod, name="j", **facts)])).filter(pod)

    assert verdict.subject == "PodMigrationJob j"
    assert verdict.message == f"PodMigrationJob j already migrates a pod of this name (phase: {phase})"


@pytest.mark.parametrize(
    ("args", "replicas", "expected"),
    [
        pytest.param({}, 1, Reason.WORKLOAD_REPLICAS, id="a single replica stays"),
        pytest.param({}, 2, None, id="one of two may go"),
        pytest.param({"maxUnavailablePerWorkload": 2}, 2, Reason.WORKLOAD_REPLICAS, id="not when both might be away"),
        pytest.param({"maxMigratingPerWorkload": "100%"}, 6, Reason.WORKLOAD_REPLICAS, id="nor when all might move"),
        pytest.param({"skipCheckExpectedReplicas": True}, 2, None, id="the check can be skipped"),
        pytest.param(
            {"skipEvictionGates": ["ExpectedReplicas"], "maxMigratingPerWorkload": "100%"},
            6,
            None,
            id="by its gate, too",
        ),
        pytest.param({}, 0, Reason.WORKLOAD_REPLICAS, id="a workload that wants no pods keeps its pods"),
    ],
)
def test_workload_needs_replicas_to_spare(args: dict[str, Any], replicas: int, expected: Reason | None) -> None:
    pod = make_koord_pod("p")

    assert make_plugin(make_cluster([pod], [make_workload(replicas)]), **args).filter(pod).reason is expected


@pytest.mark.parametrize(
    ("args", "replicas", "message"),
    [
        pytest.param({}, 1, "1 replica; at least 2 are required", id="a single replica"),
        pytest.param({}, 0, "0 replicas; at least 2 are required", id="none"),
        pytest.param(
            {"maxUnavailablePerWorkload": 2},
            2,
            "2 replicas, and maxUnavailablePerWorkload (2) allows all of them to be evicted at once",
            id="a number",
        ),
        pytest.param(
            {"maxMigratingPerWorkload": "100%"},
            6,
            "6 replicas, and maxMigratingPerWorkload (100%: 6) allows all of them to be evicted at once",
            id="a share",
        ),
    ],
)
def test_workload_without_replicas_to_spare_is_told_with_its_limit(
    args: dict[str, Any], replicas: int, message: str
) -> None:
    pod = make_koord_pod("p")

    verdict = make_plugin(make_cluster([pod], [make_workload(replicas)]), **args).filter(pod)

    assert verdict.message == f"ReplicaSet default/web has {message} (skipCheckExpectedReplicas: false)"


@pytest.mark.parametrize(
    ("args", "workload", "expected"),
    [
        pytest.param({"singleReplicas": "Surge"}, "ReplicaSet/web", None, id="of a ReplicaSet"),
        pytest.param({"singleReplicas": "Evict"}, "ReplicaSet/web", Reason.WORKLOAD_REPLICAS, id="but not unasked"),
        pytest.param({"singleReplicas": "Surge"}, "StatefulSet/web", Reason.WORKLOAD_REPLICAS, id="nor a database"),
    ],
)
def test_only_replica_may_go_that_is_surged(args: dict[str, Any], workload: str, expected: Reason | None) -> None:
    pod = make_koord_pod("p", owners=[owner(workload, group="apps/v1")])
    cluster = make_cluster([pod], [make_workload(1, kind=workload.partition("/")[0])])

    assert make_plugin(cluster, reservationProvider="koordinator", **args).filter(pod).reason is expected


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({}, id="by default"),
        pytest.param({"skipCheckExpectedReplicas": True}, id="and without the replicas check"),
    ],
)
def test_pod_of_an_unknown_workload_stays(args: dict[str, Any]) -> None:
    pod = make_koord_pod("p", owners=["Job/etl"])

    assert make_plugin(make_cluster([pod]), **args).filter(pod).reason is Reason.WORKLOAD_UNKNOWN


def test_replicas_of_a_batch_job_cannot_be_looked_up_although_it_was_read() -> None:
    """Koordinator asks it for the subresource `scale`, which it does not have."""
    pod = make_koord_pod("p", owners=[owner("Job/etl", group="batch/v1")])

    plugin = make_plugin(make_cluster([pod], [make_workload(5, kind="Job", name="etl")]))

    assert plugin.filter(pod).reason is Reason.WORKLOAD_UNKNOWN


_OWNED = [owner("Job/train", group="batch.volcano.sh/v1alpha1")]


def _volcano_job(*replicas: int | None) -> VolcanoJob:
    tasks = {f"task-{index}": VolcanoTask(number) for index, number in enumerate(replicas)}
    return VolcanoJob("Job", "default", "train", "job-train", sum(number or 0 for number in replicas), tasks=tasks)


@pytest.mark.parametrize(
    ("workload", "args", "expected"),
    [
        pytest.param(_volcano_job(1, 3), {}, None, id="the replicas of all tasks together"),
        pytest.param(_volcano_job(1), {}, Reason.WORKLOAD_REPLICAS, id="one is too few"),
        pytest.param(_volcano_job(1), {"skipCheckExpectedReplicas": True}, None, id="one, where that is not checked"),
        pytest.param(_volcano_job(None), {}, Reason.WORKLOAD_UNKNOWN, id="unknown in an old dump"),
        pytest.param(make_workload(9), {}, Reason.WORKLOAD_UNKNOWN, id="unknown of a Job that was not read"),
    ],
)
def test_replicas_of_a_volcano_job_decide(workload: Workload, args: dict[str, Any], expected: Reason | None) -> None:
    pod = make_koord_pod("p", owners=_OWNED)

    assert make_plugin(make_cluster([pod], [workload]), **args).filter(pod).reason is expected


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        pytest.param("Succeeded", None, id="not one that has succeeded"),
        pytest.param("Failed", Reason.WORKLOAD_UNAVAILABLE, id="one that has failed"),
        pytest.param("Pending", Reason.WORKLOAD_UNAVAILABLE, id="one that is pending"),
    ],
)
def test_pods_of_a_volcano_job_that_are_away_count(phase: str, expected: Reason | None) -> None:
    pod, others = make_koord_pod("p", owners=_OWNED), [("q", phase), ("r", phase)]
    away = [make_koord_pod(name, owners=_OWNED, phase=each, ready=False) for name, each in others]

    plugin = make_plugin(make_cluster([pod, *away], [_volcano_job(4)]))

    assert plugin.filter(pod).reason is expected


def test_replicas_of_a_deployment_decide_for_its_replica_sets() -> None:
    pod = make_koord_pod("p")
    workloads = [make_workload(1, deployment="shop"), make_workload(5, kind="Deployment", name="shop")]

    assert make_plugin(make_cluster([pod], workloads)).filter(pod).is_accepted
    assert make_plugin(make_cluster([pod], workloads[:1])).filter(pod).reason is Reason.WORKLOAD_UNKNOWN


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, None, id="nobody asks by default"),
        pytest.param({"nodeFit": True}, Reason.NO_NODE_FITS, id="node fit asks for room elsewhere"),
        pytest.param({"nodeFit": True, "skipEvictionGates": ["NodeFit"]}, None, id="node fit has a gate"),
    ],
)
def test_pre_eviction_filter_asks_for_room_elsewhere(args: dict[str, Any], expected: Reason | None) -> None:
    pod = make_koord_pod("p", cpu="5")

    assert make_plugin(make_cluster([pod]), **args).pre_eviction_filter(pod).reason is expected
