"""The live koord-scheduler gives the room that evictions make to the pod that the plan makes it for, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, condition, wait_until
from tests.e2e.objects import STOPS, deployment, node, pod
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.e2e.program import Program, Report

RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
STOPS_LATE: dict[str, Any] = {"annotations": {STOPS: "late"}, "terminationGracePeriodSeconds": 8}
STOPPING = pytest.mark.parametrize("stopping", [{}, STOPS_LATE], ids=["stops at once", "stops late"])


@STOPPING
def test_the_pending_pod_of_the_plan_gets_the_room_that_another_one_has_waited_for_longer(
    peer_cluster: Cluster, tmp_path: Path, stopping: dict[str, Any]
) -> None:
    start_with_mover(peer_cluster, **stopping)
    wait_in_vain(peer_cluster, "rival", cpu="2500m")
    wanted = wait_in_vain(peer_cluster, "wanted", cpu="2500m")

    report = make_room(peer_cluster, tmp_path, wanted)
    wake_pending_pods(peer_cluster)

    assert codes(report) == {"mover": "done"}
    assert rooms(report) == {"mover": {"wanted": "a"}}
    assert nodes(peer_cluster, "mover", "wanted", "rival") == {"mover": "b", "wanted": "a", "rival": ""}
    assert await_users(peer_cluster, 2) == ["mover", "wanted"]


@STOPPING
def test_rooms_of_a_chain_are_held_before_the_first_pod_leaves(
    peer_cluster: Cluster, tmp_path: Path, stopping: dict[str, Any]
) -> None:
    start(peer_cluster)
    add_node(peer_cluster, "a", filled="2")
    run(peer_cluster, "second", cpu="1500m", **stopping)
    add_node(peer_cluster, "b", filled="2500m")
    run(peer_cluster, "first", cpu="1", **stopping)
    add_node(peer_cluster, "c", filled="3")
    wait_in_vain(peer_cluster, "rival", cpu="1500m")
    wanted = wait_in_vain(peer_cluster, "wanted", cpu="2")

    report = make_room(peer_cluster, tmp_path, wanted)
    wake_pending_pods(peer_cluster)

    assert codes(report) == {"first": "done", "second": "done"}
    assert waves(report) == {"first": 1, "second": 2}
    assert rooms(report) == {"first": {"second": "b"}, "second": {"wanted": "a"}}
    found = nodes(peer_cluster, "first", "second", "wanted", "rival")
    assert found == {"first": "c", "second": "b", "wanted": "a", "rival": ""}
    assert await_users(peer_cluster, 3) == ["first", "second", "wanted"]


def test_nothing_is_left_held_where_the_pod_cannot_leave(peer_cluster: Cluster, tmp_path: Path) -> None:
    start_with_mover(peer_cluster)
    wanted = wait_in_vain(peer_cluster, "wanted", cpu="2500m")
    (mover,) = peer_cluster.pods("mover")
    peer_cluster.plane[SCHEDULER].stop()  # so that the room is taken before it is held
    begun = Program(peer_cluster.kubeconfig, tmp_path).start(making_room_for(wanted))
    wait_until("rooms are asked for", lambda: len(reservations(peer_cluster)) == 2)
    fill(peer_cluster, "b", "1")
    peer_cluster.plane[SCHEDULER].restart()  # it knows all pods before it schedules any; one that was paused does not

    report = begun.wait()

    assert codes(report) == {"mover": "no-room"}
    assert [each["metadata"]["uid"] for each in peer_cluster.pods("mover")] == [mover["metadata"]["uid"]]
    assert reservations(peer_cluster) == []


def test_the_next_run_deletes_the_room_of_a_pod_that_is_gone(peer_cluster: Cluster, tmp_path: Path) -> None:
    start_with_mover(peer_cluster, **STOPS_LATE)
    wanted = wait_in_vain(peer_cluster, "wanted", cpu="2500m")
    begun = Program(peer_cluster.kubeconfig, tmp_path).start(making_room_for(wanted))
    wait_until("the pod is leaving", lambda: is_leaving(peer_cluster, "mover"))
    peer_cluster.api.delete(deployment("wanted", peer_cluster.namespace))

    assert codes(begun.wait()) == {"mover": "done"}
    assert await_users(peer_cluster, 1) == ["mover"]
    assert len(reservations(peer_cluster)) == 2

    assert make_room(peer_cluster, tmp_path, wanted).document["results"] == []
    assert [each["status"]["phase"] for each in reservations(peer_cluster)] == ["Succeeded"]


def test_the_next_run_leaves_the_room_to_the_pod_that_still_waits(peer_cluster: Cluster, tmp_path: Path) -> None:
    start_with_mover(peer_cluster)
    wait_in_vain(peer_cluster, "rival", cpu="2500m")
    wanted = wait_in_vain(peer_cluster, "wanted", cpu="2500m")
    assert codes(make_room(peer_cluster, tmp_path, wanted)) == {"mover": "done"}

    second = make_room(peer_cluster, tmp_path, wanted)
    wake_pending_pods(peer_cluster)

    assert second.document["results"] == []
    assert nodes(peer_cluster, "wanted", "rival") == {"wanted": "a", "rival": ""}


def start(cluster: Cluster) -> None:
    """Koordinator's kinds and scheduler, and on a node too small for others a pod that can end."""
    install_koordinator(cluster.plane)
    start_scheduler(cluster.plane)
    cluster.add_nodes(node("small", cpu="10m"))
    cluster.create(pod("bystander", cluster.namespace, cpu="10m", nodeName="small"))


def start_with_mover(cluster: Cluster, **facts: Any) -> None:
    """Node a has 2.5 cores once the mover has left it, for which node b has the room and no core more."""
    start(cluster)
    add_node(cluster, "a", filled="1500m")
    run(cluster, "mover", cpu="2", **facts)
    add_node(cluster, "b", filled="2")


def add_node(cluster: Cluster, name: str, *, filled: str) -> None:
    """A node of 4 cores, of which a pod that cannot move has so many."""
    cluster.add_nodes(node(name, cpu="4"))
    fill(cluster, name, filled)


def fill(cluster: Cluster, node_name: str, cpu: str) -> None:
    """A pod without an owner on the node, whatever the scheduler says."""
    cluster.create(pod(f"fill-{node_name}-{cpu}", cluster.namespace, cpu=cpu, nodeName=node_name))


def run(cluster: Cluster, app: str, *, cpu: str, **facts: Any) -> None:
    """The only pod of a workload, where there is room."""
    cluster.run(deployment(app, cluster.namespace, replicas=1, cpu=cpu, schedulerName=SCHEDULER, **facts))


def wait_in_vain(cluster: Cluster, app: str, *, cpu: str) -> Object:
    """The only pod of a workload, once it has found no room."""
    cluster.create(deployment(app, cluster.namespace, replicas=1, cpu=cpu, schedulerName=SCHEDULER))

    def unscheduled() -> Object | None:
        return next((found for found in cluster.pods(app) if condition(found, "PodScheduled") == "False"), None)

    return wait_until(f"{app} finds no room", unscheduled)


def make_room(cluster: Cluster, folder: Path, wanted: Object) -> Report:
    """A run that makes room for one pending pod."""
    report = Program(cluster.kubeconfig, folder).run(making_room_for(wanted))
    assert report.exit_code == 0, report.log
    return report


def making_room_for(wanted: Object) -> str:
    """A policy for one pending pod, without limits."""
    objective = {"makeRoom": {"for": [f"{wanted['metadata']['namespace']}/{wanted['metadata']['name']}"]}}
    planner = {"objectives": [objective], "chooseNodes": True, "timeLimit": "30s", "workLimit": 2}
    controller = {
        "reservationProvider": "koordinator",
        "schedulerNames": [SCHEDULER],
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": "100%",
        "maxUnavailablePerWorkload": "100%",
        "skipEvictionGates": ["ExpectedReplicas"],
        "objectLimiters": {"workload": {"duration": "0s"}},
    }
    profile = {
        "name": "e2e",
        "pluginConfig": [
            {"name": "MigrationPlanner", "args": planner},
            {"name": "MigrationController", "args": controller},
        ],
        "plugins": {"balance": {"enabled": [{"name": "MigrationPlanner"}]}},
    }
    return json.dumps({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]})


def wake_pending_pods(cluster: Cluster) -> None:
    """A pod ends elsewhere, as they do all the time, for which the scheduler tries all that wait for room.

    It has tried them when the evicted pod was gone, milliseconds before the Reservation could be used. That it can be
    is nothing for which koord-scheduler 1.8 tries them again.
    """
    held = ("Available", "Succeeded")
    wait_until("room is held", lambda: all(each["status"].get("phase") in held for each in reservations(cluster)))
    cluster.api.delete(pod("bystander", cluster.namespace), grace_seconds=0)
    wait_until("one has a node", lambda: any(nodes(cluster, "wanted", "rival").values()), timeout_seconds=20)


def codes(report: Report) -> dict[str, str]:
    """How the eviction of the pod of each workload ended."""
    return {app_of(name): code for name, code in report.codes().items()}


def waves(report: Report) -> dict[str, int]:
    """The wave of each workload's pod."""
    return {app_of(move["pod"]["name"]): move["wave"] for move in report.document["plan"]["moves"]}


def rooms(report: Report) -> dict[str, dict[str, str]]:
    """Workload → the pods that room is held for once its pod has left, with their nodes."""
    return {
        app_of(move["pod"]["name"]): {app_of(room["pod"]["name"]): room["node"] for room in move["roomFor"]}
        for move in report.document["plan"]["moves"]
    }


def nodes(cluster: Cluster, *apps: str) -> dict[str, str]:
    """The node of the only pod of each workload, "" where it waits."""
    return {app: each["spec"].get("nodeName", "") for app in apps for each in cluster.pods(app)}


def is_leaving(cluster: Cluster, app: str) -> bool:
    """Whether a pod of the workload is being deleted."""
    return any("deletionTimestamp" in each["metadata"] for each in cluster.pods(app))


def reservations(cluster: Cluster) -> list[Object]:
    """All there are."""
    return cluster.api.items(RESERVATIONS)


def await_users(cluster: Cluster, count: int) -> list[str]:
    """The workloads whose pods use Reservations, sorted, once they are so many."""

    def users() -> list[str] | None:
        found = [user for each in reservations(cluster) for user in each.get("status", {}).get("currentOwners", [])]
        return sorted(app_of(user["name"]) for user in found) if len(found) == count else None

    return wait_until(f"{count} Reservations are used", users, timeout_seconds=20)


def app_of(name: str) -> str:
    """The workload of a pod of this name."""
    return name.partition("-")[0]
