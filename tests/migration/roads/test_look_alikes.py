"""What only looks like an object of this program is left alone and told once, and never ends a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from descheduler.cycle.options import RunResult
from descheduler.migration.room.labels import labels_of
from descheduler.plan.outcome import OutcomeCode
from tests.faults.rooms.kinds import OWNER
from tests.integration.live_processes import Cli
from tests.living.builders import budget, pod, priority_class, reservation, stateful_set
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.http import LivingServer
from tests.migration.roads.test_missing_rights import Forbidding
from tests.migration.roads.whole_runs import LEASE_SECONDS, WAYS, live_run, policy_of, world

Object = dict[str, Any]
PLACEHOLDERS, RESERVATIONS = WAYS["placeholders"], WAYS["reservations"]
UID = "11111111-2222-4333-8444-555555555555"
UUID = "99999999-2222-4333-8444-555555555555"
JOBS = "podmigrationjobs.scheduling.koordinator.sh"
MOVED = {OutcomeCode.DONE, OutcomeCode.MISSED_ROOM}


def labelled(app: str) -> dict[str, str]:
    """What a tenant copies from a placeholder."""
    return {"app": app, **labels_of(UID, OWNER)}


def tenants(cluster: LivingCluster) -> list[Object]:
    """A static pod of the control plane and a pod under a budget that lets none go, both with our label."""
    cluster.add(priority_class("system-node-critical", 2_000_001_000))
    etcd = pod("etcd-n1", namespace="kube-system", on="n2", priorityClassName="system-node-critical")
    etcd["metadata"]["labels"] |= labelled("etcd")
    _, kept = stateful_set("kept", 1, on=["n3"], labels=labelled("kept"))
    return [cluster.add(each) for each in (etcd, kept, budget("kept", maxUnavailable=0))][:2]


def uids(cluster: LivingCluster) -> set[str]:
    return {found["metadata"]["uid"] for found in cluster.all("pods")}


def left_alone(result: RunResult) -> list[str]:
    return [note for note in result.decisions.notes if "was left alone" in note]


def kill(cluster: LivingCluster, way: Any, method: str, ending: str) -> None:
    """A run ends, as by SIGKILL, right before its first such call, and its Lease runs out."""
    passage = FaultyWay(cluster.api)

    def die() -> None:
        passage.is_dead = True
        raise Killed

    passage.before(method, ending, die)
    with pytest.raises(Killed):
        live_run(cluster, policy_of(way), passage)
    cluster.clock.sleep(LEASE_SECONDS + 20.0)


def placeholders(cluster: LivingCluster) -> list[Object]:
    return [found for found in cluster.all("pods") if found["metadata"]["name"].startswith("placeholder-")]


def orphaned(cluster: LivingCluster) -> Object:
    """A placeholder of a killed run, whose jobs somebody has deleted."""
    kill(cluster, PLACEHOLDERS, "POST", "/eviction")
    for found in cluster.all("configmaps"):
        if found["metadata"]["name"].startswith("descheduler-job-"):
            path = f"/api/v1/namespaces/kube-system/configmaps/{found['metadata']['name']}"
            cluster.client(agent="admin").send("DELETE", path)
    return placeholders(cluster)[0]


@pytest.mark.long
def test_pods_with_the_label_are_not_deleted_by_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = world(PLACEHOLDERS)
    kept = {found["metadata"]["uid"] for found in tenants(cluster)}
    with LivingServer(cluster, scale=4) as server:
        cli = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys)
        cli.policy.write_text(policy_of(PLACEHOLDERS))

        code, out, err = cli.run("-o", "json")

    assert (code, "Traceback" in err) == (0, False)
    assert kept <= uids(cluster)
    assert cluster.api.sent("POST", "/eviction")
    told = [note for note in json.loads(out)["plan"]["warnings"] if "was left alone" in note]
    assert [note.split(":")[0] for note in told] == [
        f"pod kube-system/etcd-n1 has the label descheduler/jobs-of={OWNER} and was left alone",
        f"pod shop/kept-0 has the label descheduler/jobs-of={OWNER} and was left alone",
    ]


@pytest.mark.long
def test_a_run_that_may_not_delete_pods_goes_on_beside_such_pods(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = world(PLACEHOLDERS)
    kept = {found["metadata"]["uid"] for found in tenants(cluster)}
    way = Forbidding("DELETE", r"/pods/(etcd-n1|kept-0)")
    with LivingServer(cluster, scale=4, passage=way) as server:
        cli = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys)
        cli.policy.write_text(policy_of(PLACEHOLDERS))

        code, _, err = cli.run("-o", "json")

    assert (code, "add this rule" in err) == (0, False)
    assert kept <= uids(cluster)
    assert cluster.api.sent("POST", "/eviction")


def edit(path: str, value: Any) -> Callable[[Object], None]:
    """Sets the part of an object that `path` leads to."""

    def change(found: Object) -> None:
        *way, last = path.split(".")
        part: Any = found
        for step in way:
            part = part[int(step)] if step.isdecimal() else part.setdefault(step, {})
        part[last] = value

    return change


OWNED = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}]
EDITS = {
    "an owner": (edit("metadata.ownerReferences", OWNED), "ReplicaSet web owns it"),
    "another name": (edit("metadata.name", "placeholder-of-mine"), "its name is not placeholder-"),
    "no class": (edit("spec.priorityClassName", None), "its priorityClassName is not set"),
    "another class": (edit("spec.priorityClassName", "high"), "its priorityClassName is high, not descheduler-plac"),
    "another image": (edit("spec.containers.0.image", "app:1"), "its image is app:1, not registry.k8s.io/pause:3.10"),
    "another container": (edit("spec.containers.0.name", "main"), "it has other containers than placeholder"),
    "an init container": (edit("spec.initContainers", [{"name": "a", "image": "b"}]), "it has other containers"),
    "a command": (edit("spec.containers.0.command", ["sleep"]), "its container has a command"),
    "a grace period": (edit("spec.terminationGracePeriodSeconds", 30), "it has a grace period or a token"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_pod_that_differs_from_a_placeholder_is_left_alone(name: str) -> None:
    cluster = world(PLACEHOLDERS)
    cluster.add(priority_class("high", 1000))
    real = orphaned(cluster)
    change, told = EDITS[name]
    alike = deepcopy(real)
    alike["metadata"]["namespace"], alike["spec"]["nodeName"] = "default", "n3"
    alike["metadata"]["uid"] = UUID
    change(alike)
    cluster.add(alike)

    result = live_run(cluster, policy_of(PLACEHOLDERS))

    assert UUID in uids(cluster)
    assert real["metadata"]["uid"] not in uids(cluster)
    (note,) = left_alone(result)
    key = f"default/{alike['metadata']['name']}"
    assert note.startswith(f"pod {key} has the label descheduler/jobs-of={OWNER} and was left alone: {told}")


def test_a_placeholder_from_a_mirror_is_ours() -> None:
    cluster = world(PLACEHOLDERS)
    real = orphaned(cluster)
    moved = edit("spec.containers.0.image", "mirror:5000/k8s/pause:3.10@sha256:abc")
    cluster.store.edit("pods", real["metadata"]["name"], real["metadata"]["namespace"], moved)

    result = live_run(cluster, policy_of(PLACEHOLDERS))

    assert real["metadata"]["uid"] not in uids(cluster)
    assert left_alone(result) == []


@pytest.mark.parametrize(("namespace", "is_ours"), [("kube-system", True), ("team-a", False)])
def test_what_runs_with_a_lease_of_the_same_name_in_another_namespace_hold_is_left_alone(
    namespace: str, is_ours: bool
) -> None:
    cluster = world(PLACEHOLDERS)
    held = orphaned(cluster)

    def change(found: Object) -> None:
        found["metadata"]["labels"]["descheduler/jobs-of"] = f"descheduler-p.{namespace}"

    cluster.store.edit("pods", held["metadata"]["name"], held["metadata"]["namespace"], change)

    result = live_run(cluster, policy_of(PLACEHOLDERS))

    assert (held["metadata"]["uid"] not in uids(cluster)) is is_ours
    assert left_alone(result) == []


def test_a_pod_with_the_name_of_a_placeholder_has_nothing_evicted_in_its_place() -> None:
    cluster = world(PLACEHOLDERS)
    passage = FaultyWay(cluster.api)

    def come_first() -> None:
        """Whoever reads the jobs knows the name."""
        for job in (found for found in cluster.all("configmaps") if "descheduler-job-" in found["metadata"]["name"]):
            name = f"placeholder-{job['metadata']['uid']}"
            if cluster.get("pods", name, "shop") is None:
                cluster.add(pod(name, on="n2"))

    passage.before("POST", "/namespaces/shop/pods", come_first)
    passage.before("POST", "/namespaces/shop/pods", come_first)
    result = live_run(cluster, policy_of(PLACEHOLDERS), passage)

    alike = placeholders(cluster)
    refused = [outcome for outcome in result.outcomes if outcome.code is OutcomeCode.NO_ROOM]
    assert len(alike) == len(refused) > 0
    assert all("exists, which is not of this job: it has no label descheduler/job" in each.message for each in refused)


def test_a_placeholder_of_ours_that_may_not_be_removed_is_told_and_the_run_goes_on() -> None:
    cluster = world(PLACEHOLDERS)
    name = orphaned(cluster)["metadata"]["name"]

    result = live_run(cluster, policy_of(PLACEHOLDERS), Forbidding("DELETE", f"/{name}"))

    (note,) = [note for note in result.decisions.notes if "could not be removed" in note]
    assert note.startswith(f"pod shop/{name} of an earlier run could not be removed: ")
    assert "resources: [pods], verbs: [delete]" in note
    assert {outcome.code for outcome in result.outcomes} <= MOVED
    assert len(result.outcomes) == 2


def test_a_job_of_ours_whose_room_may_not_be_removed_does_not_end_the_run() -> None:
    cluster = world(PLACEHOLDERS)
    kill(cluster, PLACEHOLDERS, "POST", "/eviction")
    names = "|".join(found["metadata"]["name"] for found in placeholders(cluster))

    result = live_run(cluster, policy_of(PLACEHOLDERS), Forbidding("DELETE", f"/({names})"))

    notes = [note for note in result.decisions.notes if "of an earlier run could not be undone" in note]
    assert len(notes) == len(names.split("|"))
    assert all("resources: [pods], verbs: [delete]" in note for note in notes)


def job_map(name: str, **facts: Any) -> Object:
    annotations = {
        "koordinator.sh/job-created-by": OWNER,
        "descheduler.koordinator.sh/passed-arbitration": "true",
        "descheduler/reservation-provider": "placeholder",
    }
    spec = {"podRef": {"namespace": "shop", "name": "x", "uid": "y"}, "mode": "ReservationFirst", "ttl": "1s"}
    data = {"job.json": json.dumps({"spec": spec, "status": {"phase": "Failed"}})}
    metadata = {"name": name, "namespace": "kube-system", "labels": {"descheduler/jobs-of": OWNER}}
    metadata |= {"annotations": annotations, "creationTimestamp": "2026-01-01T00:00:00Z"}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    for path, value in facts.items():
        edit(path.replace("__", "."), value)(made)
    return made


MAPS = {
    "another name": (job_map("settings"), "its name is not descheduler-job-UUID"),
    "no UUID": (job_map("descheduler-job-1"), "its name is not descheduler-job-UUID"),
    "another creator": (
        job_map(f"descheduler-job-{UUID}", metadata__annotations={"koordinator.sh/job-created-by": "me"}),
        f"its annotation koordinator.sh/job-created-by is not {OWNER}",
    ),
    "an owner": (job_map(f"descheduler-job-{UUID}", metadata__ownerReferences=OWNED), "ReplicaSet web owns it"),
    "no job": (job_map(f"descheduler-job-{UUID}", data={"a": "b"}), "job.json does not hold a job"),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_config_map_that_differs_from_a_job_is_left_alone(name: str) -> None:
    cluster = world(PLACEHOLDERS)
    alike, told = MAPS[name]
    added = cluster.add(alike)

    result = live_run(cluster, policy_of(PLACEHOLDERS))

    assert cluster.get("configmaps", added["metadata"]["name"], "kube-system") == added
    (note,) = left_alone(result)
    start = f"ConfigMap {added['metadata']['name']} has the label descheduler/jobs-of={OWNER} and was left alone: "
    assert note == start + told


def test_a_job_that_ended_long_ago_is_removed() -> None:
    cluster = world(PLACEHOLDERS)
    cluster.add(job_map(f"descheduler-job-{UUID}"))

    live_run(cluster, policy_of(PLACEHOLDERS))

    assert cluster.get("configmaps", f"descheduler-job-{UUID}", "kube-system") is None


ROOMS = {
    "another name": (reservation("mine", "web", labels=labels_of(UID, OWNER)), "its name does not follow from the UID"),
    "an owner": (
        reservation(UID, "web", labels=labels_of(UID, OWNER)) | {"metadata": {
            "name": UID, "labels": labels_of(UID, OWNER), "ownerReferences": OWNED}},
        "ReplicaSet web owns it",
    ),
    "no job": (reservation("mine", "web", labels={"descheduler/jobs-of": OWNER}), "it has no label descheduler/job"),
    "not for one pod": (
        reservation(f"{UID}-room-0", "web", labels=labels_of(UID, OWNER)),
        "it is not for one pod",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROOMS)
def test_a_reservation_that_differs_from_ours_is_left_alone(name: str) -> None:
    cluster = world(RESERVATIONS)
    alike, told = ROOMS[name]
    added = cluster.add(alike)

    result = live_run(cluster, policy_of(RESERVATIONS))

    assert cluster.get("reservations.scheduling.koordinator.sh", added["metadata"]["name"]) is not None
    (note,) = left_alone(result)
    assert f"Reservation {added['metadata']['name']} has the label descheduler/jobs-of={OWNER}" in note
    assert told in note


def migration_job(name: str, **facts: Any) -> Object:
    made = job_map(name)
    held = json.loads(made["data"]["job.json"])
    made |= {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob", **held}
    made["metadata"] = {key: value for key, value in made["metadata"].items() if key not in ("namespace", "labels")}
    del made["data"]
    for path, value in facts.items():
        edit(path.replace("__", "."), value)(made)
    return made


RIVALS = {
    "another name": migration_job("move-web"),
    "an owner": migration_job(UUID, metadata__ownerReferences=OWNED),
    "no provider": migration_job(
        UUID, metadata__annotations={"koordinator.sh/job-created-by": OWNER, "x": "descheduler/reservation-provider"}
    ),
    "no UID": migration_job(UUID, spec__podRef={"namespace": "shop", "name": "x"}),
}


@pytest.mark.parametrize("phase", ["", "Running", "Failed"])
@pytest.mark.parametrize("name", RIVALS)
def test_a_job_that_only_says_that_it_is_ours_is_left_alone(name: str, phase: str) -> None:
    cluster = world(RESERVATIONS)
    added = cluster.add({**deepcopy(RIVALS[name]), "status": {"phase": phase}})

    result = live_run(cluster, policy_of(RESERVATIONS))

    assert cluster.get(JOBS, added["metadata"]["name"]) == added
    (note,) = left_alone(result)
    assert note.startswith(f"PodMigrationJob {added['metadata']['name']} has the annotation of a job of this program")


def test_the_room_of_anothers_job_is_left_alone() -> None:
    cluster = world(RESERVATIONS)
    rival = migration_job("move-web")
    rival["metadata"]["annotations"] = {"koordinator.sh/job-created-by": "koord-descheduler"}
    uid = cluster.add(rival)["metadata"]["uid"]
    cluster.add(reservation(uid, "web", labels=labels_of(uid, OWNER)))

    result = live_run(cluster, policy_of(RESERVATIONS))

    assert cluster.get("reservations.scheduling.koordinator.sh", uid) is not None
    (note,) = left_alone(result)
    assert note.endswith(f"the job with UID {uid} is not of this program")


def test_the_room_of_a_job_that_cannot_be_read_is_left_alone() -> None:
    cluster = world(RESERVATIONS)
    kill(cluster, RESERVATIONS, "POST", "/eviction")
    for found in cluster.all(JOBS):
        cluster.store.edit(JOBS, found["metadata"]["name"], "", edit("spec.deleteOptions", "x"))
    held = cluster.all("reservations.scheduling.koordinator.sh")

    live_run(cluster, policy_of(RESERVATIONS))

    names = {found["metadata"]["name"] for found in cluster.all("reservations.scheduling.koordinator.sh")}
    assert {found["metadata"]["name"] for found in held} <= names
    assert held


def test_a_thousand_of_them_do_not_hide_what_else_is_told() -> None:
    cluster = world(PLACEHOLDERS)
    for number in range(20):
        alike = pod(f"a{number:02}", on="n3", cpu="1m")
        alike["metadata"]["labels"] |= labelled("a")
        cluster.add(alike)

    notes = live_run(cluster, policy_of(PLACEHOLDERS)).decisions.notes

    assert len([note for note in notes if "was left alone" in note]) == 5
    assert "15 more objects only look like those of this program, or could not be removed" in notes
