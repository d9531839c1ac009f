"""MigrationController: which pods may be migrated, with what is on the move already."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.model.groups.volcano import VolcanoJob, VolcanoTask
from descheduler.model.groups.workloads import Workload
from descheduler.model.verdict import Reason
from tests.builders import owner
from tests.eviction.migration_controller.koordinator_clusters import (
    make_args,
    make_cluster,
    make_job,
    make_koord_pod,
    make_workload,
)

EVICT = {"descheduler.alpha.kubernetes.io/evict": ""}
NEVER = {"scheduling.koordinator.sh/eviction-cost": "2147483647"}
LOCAL = [{"name": "logs", "hostPath": {"path": "/var/log"}}]


def make_plugin(handle: Handle, **args: Any) -> MigrationController:
    """The plugin with arguments in YAML spelling, defaults filled in."""
    return MigrationController(make_args(**args), handle)


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
    ("args", "reason"),
    [
        pytest.param({"maxMigratingPerNode": 1}, Reason.MIGRATING_LIMIT, id="of the node"),
        pytest.param({"maxMigratingPerNamespace": 1}, Reason.MIGRATING_LIMIT, id="of the namespace"),
        pytest.param({"maxMigratingGlobally": 1}, Reason.MIGRATING_LIMIT, id="of the cluster"),
        pytest.param({"maxMigratingPerNode": 0}, None, id="where 0 is no limit"),
        pytest.param(
            {"maxMigratingPerNode": 1, "skipEvictionGates": ["MaxMigratingPerNode"]},
            None,
            id="and a skipped gate is none",
        ),
    ],
)
def test_pods_on_the_move_count_against_the_limit(args: dict[str, Any], reason: Reason | None) -> None:
    pod, moving = make_koord_pod("p"), make_koord_pod("m", owners=["StatefulSet/db"])
    by_job = make_plugin(make_cluster([pod, moving], jobs=[make_job(moving)]), **args)
    handle = make_cluster([pod, moving])
    by_booking = make_plugin(handle, **args)
    before = by_booking.filter(pod)

    handle.view.book_eviction(moving)

    assert before.is_accepted
    assert by_job.filter(pod).reason is reason
    assert by_booking.filter(pod).reason is reason


def test_booked_pod_is_not_asked_for_twice() -> None:
    pod = make_koord_pod("p")
    handle = make_cluster([pod])
    plugin = make_plugin(handle)

    handle.view.book_eviction(pod)

    assert plugin.filter(pod).reason is Reason.ALREADY_MIGRATING
    assert plugin.filter(pod).message == "this run already evicts a pod of this name"


def test_replicas_of_one_workload_move_one_after_the_other() -> None:
    pods = [make_koord_pod(name, node=name) for name in "abc"]
    handle = make_cluster(pods, [make_workload(3)])
    plugin = make_plugin(handle)

    handle.view.book_eviction(pods[0])

    assert plugin.filter(pods[1]).reason is Reason.MIGRATING_LIMIT
    assert plugin.filter(pods[2]).reason is Reason.MIGRATING_LIMIT


@pytest.mark.parametrize(
    ("args", "replicas", "shown"),
    [
        pytest.param({}, 5, "default: 2 of 5 replicas", id="without a value"),
        pytest.param({"maxMigratingPerWorkload": "50%"}, 4, "50%: 2 of 4 replicas", id="as a percentage"),
        pytest.param({"maxMigratingPerWorkload": 2}, 4, "2", id="as a number"),
    ],
)
def test_limit_of_a_workload_says_what_the_policy_says_and_what_moves_its_pods(
    args: dict[str, Any], replicas: int, shown: str
) -> None:
    pod, of_job, of_run = (make_koord_pod(name) for name in "pqr")
    handle = make_cluster([pod, of_job, of_run], [make_workload(replicas)], [make_job(of_job)])
    plugin = make_plugin(handle, maxMigratingPerNode=0, maxUnavailablePerWorkload=3, **args)

    handle.view.book_eviction(of_run)

    assert plugin.filter(pod).message == (
        f"maxMigratingPerWorkload ({shown}) reached for ReplicaSet web:"
        " 1 other pod is being migrated and 1 other pod is evicted by this run"
    )


def test_pods_of_a_workload_that_are_away_may_be_more_than_its_replicas() -> None:
    pod, *away = make_koord_pod("p"), *(make_koord_pod(name, ready=False) for name in "abcd")

    verdict = make_plugin(make_cluster([pod, *away], [make_workload(3)])).filter(pod)

    assert verdict.message == (
        "maxUnavailablePerWorkload (default: 1 of 3 replicas) reached for ReplicaSet default/web:"
        " 4 pods are unavailable"
    )


def test_pods_that_are_unavailable_and_those_that_move_are_told_apart() -> None:
    pod, away, moving = make_koord_pod("p"), make_koord_pod("q", ready=False), make_koord_pod("r")
    handle = make_cluster([pod, away, moving], [make_workload(4)])
    plugin = make_plugin(handle)

    handle.view.book_eviction(moving)

    assert plugin.filter(pod).message.endswith("1 pod is unavailable and 1 other pod is evicted by this run")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"ready": False}, Reason.WORKLOAD_UNAVAILABLE, id="a pod that is not ready"),
        pytest.param({"deleted": 1}, Reason.WORKLOAD_UNAVAILABLE, id="a pod that is being deleted"),
        pytest.param({"phase": "Failed"}, Reason.WORKLOAD_UNAVAILABLE, id="a pod that has failed"),
        pytest.param({}, None, id="not a healthy one"),
    ],
)
def test_unavailable_replicas_use_the_limit_up(facts: dict[str, Any], expected: Reason | None) -> None:
    pod, other = make_koord_pod("p"), make_koord_pod("q", **facts)

    assert make_plugin(make_cluster([pod, other], [make_workload(3)])).filter(pod).reason is expected


def test_unready_pod_counts_against_itself() -> None:
    pod = make_koord_pod("p", ready=False)

    assert make_plugin(make_cluster([pod], [make_workload(2)])).filter(pod).reason is Reason.WORKLOAD_UNAVAILABLE


def test_unready_pods_of_all_replica_sets_of_a_deployment_count() -> None:
    pod, old = make_koord_pod("p"), make_koord_pod("q", owners=["ReplicaSet/old"], ready=False)
    workloads = [
        make_workload(0, deployment="shop"),
        make_workload(0, name="old", deployment="shop"),
        make_workload(3, kind="Deployment", name="shop"),
    ]

    assert make_plugin(make_cluster([pod, old], workloads)).filter(pod).reason is Reason.WORKLOAD_UNAVAILABLE


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
