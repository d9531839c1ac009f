"""Jobs that say what this program never writes: of users, or damaged by others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.plan.outcome import OutcomeCode
from tests.faults.rooms.kinds import OWNER
from tests.living.builders import deployment, living_cluster, node, reservation
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.test_missing_rights import Forbidding
from tests.migration.roads.test_users_limits import user_job
from tests.migration.roads.whole_runs import SURGES, WAYS, live_run, policy_of
from tests.migration.roads.whole_runs import world as whole_world

JOBS = "podmigrationjobs.scheduling.koordinator.sh"
KOORD = WAYS["reservations"]
CREATED_BY = "koordinator.sh/job-created-by"
OURS = {
    CREATED_BY: OWNER,
    "descheduler.koordinator.sh/passed-arbitration": "true",
    "descheduler/reservation-provider": "koordinator",
}
OUR_NAME = "99999999-2222-4333-8444-555555555555"
ROOMS = "descheduler/rooms"
SURGE = "descheduler/surge"
TARGET = "descheduler/target-node"
Object = dict[str, Any]


def asked(
    spec: Object | None = None,
    *,
    replicas: int = 3,
    annotations: dict[str, str] | None = None,
    phase: str = "",
    name: str = "job",
) -> LivingCluster:
    """There is a job for a pod of `asked`, and a pod of `tainted` is to be moved."""
    facts: dict[str, Any] = {"cpu": "100m", "grace_seconds": 1, "scheduler": KOORD.scheduler}
    by_plugin = deployment("tainted", 3, on=["n1", "n2", "n2"], **facts)
    workloads = [deployment("asked", replicas, on=["n2"] * replicas, **facts), by_plugin]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    cluster = living_cluster(nodes, workloads)
    job = user_job(name, cluster.pods("asked")[0])
    job["metadata"]["annotations"] = annotations or {}
    job["spec"] |= {"mode": "ReservationFirst"} | (spec or {})
    cluster.add(job | ({"status": {"phase": phase}} if phase else {}))
    return cluster


def job_of(cluster: LivingCluster, name: str = "job") -> Object:
    job = cluster.get(JOBS, name)
    assert job is not None
    return job


def run(cluster: LivingCluster, **args: str) -> tuple[str, ...]:
    """What the report of a run says, whose own pod was moved."""
    result = live_run(cluster, policy_of(KOORD, **args))
    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE]
    return result.decisions.notes


@pytest.mark.parametrize(
    "surge", ["{}", '{"uid": "u", "kind": "Deployment", "name": "asked"}', '{"uid": "u", "kind": "Pod"}']
)
def test_job_of_a_user_is_never_surged(surge: str) -> None:
    cluster = asked(replicas=1, annotations={SURGE: surge})

    run(cluster, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1")

    assert not cluster.api.sent("PATCH", "/scale")
    assert job_of(cluster)["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize("created_by", ["somebody", OWNER])
def test_job_of_a_user_is_not_surged_whatever_is_written_into_it_meanwhile(created_by: str) -> None:
    cluster = asked()
    cluster_of_victim(cluster)
    passage = FaultyWay(cluster.api)
    surge = {"kind": "Deployment", "name": "victim", "uid": "deployment-shop-victim"}
    written = {CREATED_BY: created_by, SURGE: json.dumps(surge)}
    passage.before("POST", "/reservations", lambda: write(cluster, "job", written))

    live_run(cluster, policy_of(KOORD, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1"), passage)

    assert job_of(cluster)["metadata"]["annotations"].keys() >= written.keys()
    assert not cluster.api.sent("PATCH", "/scale")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("victim", "Deployment shop/victim is not the workload of pod shop/", id="another workload"),
        pytest.param("../../nodes/n1", "Deployment ../../nodes/n1 does not exist any more", id="a path"),
    ],
)
def test_surge_scales_no_other_workload_than_that_of_its_pod(name: str, told: str) -> None:
    cluster = whole_world(SURGES["surges with reservations"])
    cluster_of_victim(cluster)
    passage = FaultyWay(cluster.api)
    surge = {"isRequired": True, "kind": "Deployment", "name": name, "uid": "deployment-shop-victim"}

    edited = list[str]()

    def edit() -> None:
        job = cluster.all(JOBS)[0]
        edited.append(job["spec"]["podRef"]["name"])
        write(cluster, job["metadata"]["name"], {SURGE: json.dumps(surge)})

    passage.before("POST", "/reservations", edit)
    result = live_run(cluster, policy_of(SURGES["surges with reservations"]), passage)

    paths = [call.request.path for call in cluster.api.calls]
    assert not [path for path in paths if "nodes/n1" in path or path.endswith("/victim/scale")]
    (outcome,) = [each for each in result.outcomes if [each.eviction.name] == edited]
    assert outcome.code is OutcomeCode.NOT_SURGED
    assert told in outcome.message
    assert sum(each.code is OutcomeCode.DONE for each in result.outcomes) == len(result.outcomes) - 1 == 1


@pytest.mark.parametrize("provider", ["placeholder", "none"])
def test_job_of_a_user_does_not_choose_what_holds_its_room(provider: str) -> None:
    cluster = asked(annotations={"descheduler/reservation-provider": provider})

    run(cluster, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1")

    created = [call.request.path.rsplit("/", 1)[-1] for call in cluster.api.sent("POST")]
    assert created.count("reservations") == 2
    assert "pods" not in created
    assert job_of(cluster)["status"]["phase"] == "Succeeded"


def cluster_of_victim(cluster: LivingCluster) -> None:
    """Adds a Deployment with one pod, which nobody asks anything of."""
    for each in deployment("victim", 1, on=["n2"], cpu="100m", scheduler=KOORD.scheduler):
        cluster.add(each)
    cluster.clock.sleep(30)


def write(cluster: LivingCluster, name: str, annotations: dict[str, str]) -> None:
    """Somebody sets annotations of a job."""
    cluster.store.edit(JOBS, name, "", lambda job: job["metadata"].setdefault("annotations", {}).update(annotations))


def test_damaged_surge_of_an_earlier_run_is_none() -> None:
    surge = '{"uid": "u", "kind": "Pod", "name": "a"}'
    reference = {"podRef": {"namespace": "shop", "name": "a", "uid": "u"}}
    run(asked(reference, annotations={**OURS, SURGE: surge}, phase="Failed", name=OUR_NAME))


def test_job_that_held_no_room_ends_where_rooms_may_not_be_read() -> None:
    cluster = asked({"ttl": "1s"})
    cluster.clock.sleep(5)

    live_run(cluster, policy_of(WAYS["directly"]), Forbidding("GET", "/reservations/[^/]+"))

    status = job_of(cluster)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Timeout")


def test_job_of_an_earlier_run_without_a_pod_is_undone() -> None:
    reference = {"podRef": {"namespace": "", "name": "", "uid": "u"}}
    cluster = asked(reference, annotations=OURS, phase="Running", name=OUR_NAME)

    run(cluster)

    assert job_of(cluster, OUR_NAME)["status"]["phase"] == "Aborted"


@pytest.mark.parametrize(
    "template",
    [
        pytest.param({"spec": {"template": {"spec": None}, "owners": [1]}}, id="no spec"),
        pytest.param({"spec": {"template": {"spec": {"affinity": {"nodeAffinity": "n2"}}}}}, id="odd affinity"),
        pytest.param({"metadata": {"name": "A/../b"}}, id="a name that no object may have"),
    ],
)
def test_job_whose_template_is_no_reservation_fails_at_once(template: Object) -> None:
    cluster = asked({"reservationOptions": {"template": template}})

    run(cluster)

    status = job_of(cluster)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "FailedCreateReservation")
    assert "Reservation" in status["message"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("../../../api/v1/nodes", id="a path"),
        pytest.param("n3\n", id="a line break"),
        pytest.param("N3", id="upper case"),
        pytest.param(" ", id="a space"),
        pytest.param("n" * 254, id="too long"),
        pytest.param('["n3"]', id="JSON"),
    ],
)
def test_job_that_wants_room_on_what_no_node_is_called_fails_at_once(text: str) -> None:
    cluster = asked(annotations={TARGET: text})
    before = cluster.pods("asked")

    run(cluster)

    status = job_of(cluster)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "FailedCreateReservation")
    assert status["message"].startswith("annotation descheduler/target-node of the job is not the name of a node")
    assert len(status["message"]) < 200
    assert cluster.pods("asked") == before


A_WAITING_POD = '[{"namespace": "shop", "name": "waits", "uid": "pod-shop-waits", "node": "n3"}]'


@pytest.mark.parametrize("text", [pytest.param(A_WAITING_POD, id="a pod"), pytest.param("[" * 100_000, id="brackets")])
def test_job_of_a_user_holds_no_room_for_other_pods(text: str) -> None:
    cluster = asked(annotations={ROOMS: text})

    run(cluster, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1")

    assert job_of(cluster)["status"]["phase"] == "Succeeded"
    created = [call.request.document()["metadata"]["name"] for call in cluster.api.sent("POST", "/reservations")]
    assert created
    assert not [name for name in created if "-room-" in name]


@pytest.mark.parametrize("created_by", ["somebody", OWNER])
def test_job_of_a_user_holds_no_room_for_other_pods_whatever_is_written_into_it_meanwhile(created_by: str) -> None:
    cluster = asked()
    passage = FaultyWay(cluster.api)
    written = {CREATED_BY: created_by, ROOMS: A_WAITING_POD}
    passage.before("PATCH", "/podmigrationjobs/job", lambda: write(cluster, "job", written))

    live_run(cluster, policy_of(KOORD, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1"), passage)

    assert job_of(cluster)["metadata"]["annotations"].keys() >= written.keys()
    assert job_of(cluster)["status"]["phase"] == "Succeeded"


def test_job_of_a_user_gets_room_on_the_node_that_it_names() -> None:
    cluster = asked(annotations={TARGET: "n3"})

    run(cluster, maxMigratingPerWorkload="1", maxUnavailablePerWorkload="1")

    status = job_of(cluster)["status"]
    assert (status["phase"], status["nodeName"]) == ("Succeeded", "n3")


BROKEN = [
    pytest.param({"ttl": "soon"}, None, "spec.ttl: 'soon' is not a duration", id="a time limit that is none"),
    pytest.param({"deleteOptions": "x"}, None, "spec.deleteOptions: Expected `object | null`", id="odd options"),
    pytest.param({"podRef": 5}, None, "spec.podRef is 5: Expected `object | null`", id="a pod that is none"),
    pytest.param({}, {"phase": 5}, "status.phase is 5: Expected `str | null`", id="a phase that is none"),
    pytest.param({}, {"phase": []}, "status.phase: Expected `str | null`", id="a list as phase"),
    pytest.param({}, {"phase": {}}, "status.phase: Expected `str | null`", id="an object as phase"),
    pytest.param({}, {"conditions": "x"}, "status.conditions: Expected `array | null`", id="odd conditions"),
    pytest.param(
        {"reservationOptions": {"template": []}}, None, "spec.reservationOptions.template: Expected", id="list"
    ),
]


@pytest.mark.parametrize(("spec", "status", "why"), BROKEN)
def test_job_that_cannot_be_decoded_fails_and_ends_no_run(spec: Object, status: Object | None, why: str) -> None:
    cluster = asked(spec)
    cluster.store.edit(JOBS, "job", "", lambda job: job.update({} if status is None else {"status": status}))
    before = cluster.pods("asked")

    notes = run(cluster)

    failed = job_of(cluster)["status"]
    assert (failed["phase"], failed["reason"]) == ("Failed", "InvalidJob")
    assert failed["message"].startswith(why)
    assert any(note.startswith(f"PodMigrationJob job: {why}") for note in notes)
    assert cluster.pods("asked") == before


@pytest.mark.parametrize(("spec", "status", "why"), BROKEN)
def test_job_of_somebody_else_that_cannot_be_decoded_is_left_alone(
    spec: Object, status: Object | None, why: str
) -> None:
    cluster = asked(spec, annotations={CREATED_BY: "koord-descheduler"})
    cluster.store.edit(JOBS, "job", "", lambda job: job.update({} if status is None else {"status": status}))
    before = job_of(cluster)

    run(cluster)

    assert job_of(cluster) == before


@pytest.mark.parametrize(
    ("template", "field"),
    [
        pytest.param({"spec": {"ttl": "soon"}}, "spec.ttl: 'soon'", id="a time limit that is none"),
        pytest.param({"spec": {"taints": [5]}}, "spec.taints[0]", id="a taint that is none"),
        pytest.param(
            {"spec": {"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "much"}}}]}}}},
            "spec.template.spec.containers[0].resources.requests.cpu: 'much' is not a quantity",
            id="an odd amount",
        ),
        pytest.param(
            {"metadata": {"annotations": {"a": 5, "koordinator.sh/x": 5}}, "spec": {"unschedulable": 5}},
            "spec.uns",
            id="odd",
        ),
    ],
)
def test_reservation_that_no_run_could_read_is_never_created(template: Object, field: str) -> None:
    cluster = asked({"reservationOptions": {"template": template}})

    run(cluster)

    status = job_of(cluster)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "FailedCreateReservation")
    assert status["message"].startswith(f"the Reservation is invalid: {field}")
    run_again(cluster)


@pytest.mark.parametrize("label", [OWNER, ""], ids=["of this program", "of a user"])
def test_reservation_that_cannot_be_decoded_ends_no_run(label: str) -> None:
    cluster = asked()
    labels = {"descheduler/jobs-of": label, "descheduler/job": "gone"} if label else {}
    odd = reservation("odd", "web", labels=labels)
    odd["spec"]["taints"] = [5]
    cluster.add(odd)

    result = live_run(cluster, policy_of(KOORD))

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE]
    told = ("Reservation odd is invalid: spec.taints[0] is 5: Expected `object`, got `int`",)
    assert result.decisions.snapshot.skipped == told
    assert cluster.get("reservations.scheduling.koordinator.sh", "odd") is not None


def run_again(cluster: LivingCluster) -> None:
    """A further run finds nothing that it cannot read."""
    result = live_run(cluster, policy_of(KOORD))
    assert result.decisions.snapshot.skipped == ()


@pytest.mark.parametrize("name", ["../../../../api/v1/namespaces/default/configmaps/x", "x/status", "a?watch=1", ".."])
def test_names_in_a_users_job_lead_to_no_other_object(name: str) -> None:
    cluster = asked(
        {
            "podRef": {"namespace": "default", "name": name},
            "reservationOptions": {"reservationRef": {"name": name}},
        }
    )

    run(cluster)

    assert not [path for path in (call.request.path for call in cluster.api.calls) if name in path]
    assert job_of(cluster)["status"]["phase"] == "Failed"


def test_reservation_that_a_users_job_names_by_a_path_is_not_looked_for() -> None:
    cluster = asked({"reservationOptions": {"reservationRef": {"name": "x/status"}}})

    run(cluster)

    assert not [path for path in (call.request.path for call in cluster.api.calls) if "x/status" in path]


@pytest.mark.parametrize("seconds", [10**30, -(10**30), True, "soon", 1.5], ids=str)
def test_grace_period_that_is_no_number_of_seconds_does_not_keep_a_pod(seconds: object) -> None:
    cluster = living_cluster(3, [deployment("web", 3, on=["n1"] * 3)])
    job = user_job("job-a", cluster.pods("web")[0])
    job["spec"]["deleteOptions"] = {"gracePeriodSeconds": seconds}
    cluster.add(job)

    result = live_run(cluster, policy_of(WAYS["directly"]))

    (call,) = cluster.api.sent("POST", "/eviction")
    assert "gracePeriodSeconds" not in (call.request.document().get("deleteOptions") or {})
    assert [outcome.code for outcome in result.all_outcomes] == [OutcomeCode.DONE]
