"""MigrationController: how pods that are on the move or unavailable use its limits up."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.verdict import Reason
from tests.eviction.migration_controller.koordinator_clusters import (
    make_cluster,
    make_job,
    make_koord_pod,
    make_plugin,
    make_workload,
)


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
        " 1 other pod is being migrated and 1 other pod is evicted before it"
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

    assert plugin.filter(pod).message.endswith("1 pod is unavailable and 1 other pod is evicted before it")


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
