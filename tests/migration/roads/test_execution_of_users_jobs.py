"""Which evictions are jobs, what a new job knows, and what is made of users' jobs that change during the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.eviction.checks.scope import EVERYWHERE
from descheduler.eviction.migration_controller.args import (
    SINGLE_REPLICAS,
    DeleteOptions,
    MigrationControllerArgs,
    default_args,
)
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.evict import EvictionClient
from descheduler.migration.roads.execution import JobExecution
from descheduler.migration.roads.users_jobs import UsersJobs
from descheduler.migration.room.table import ClusterOffer, JobProfile, choose
from descheduler.migration.settings import JobStorage
from descheduler.model.koordinator.eviction_annotations import SURGE_ANNOTATION
from descheduler.model.pod import Owner
from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.planned import PlannedEviction
from tests.living.builders import deployment, living_cluster, node, pod
from tests.living.clock import rfc3339
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play
from tests.migration.roads.users_jobs import JOBS, Object, job_for, status_of
from tests.migration.stand_ins import make_eviction

OFFER = ClusterOffer(has_jobs=True, providers=frozenset({RoomProvider.KOORDINATOR}))
PATH = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
KINDS = ("nodes", "pods", "replicasets.apps", "deployments.apps", JOBS)


def execution(
    cluster: LivingCluster, way: FaultyWay | None = None, storage: JobStorage | None = None, **args: Any
) -> JobExecution:
    """The jobs of a policy with one profile, p."""
    play = Play(cluster).through(way or FaultyWay(cluster.api))
    made = default_args(MigrationControllerArgs(**args))
    profile = JobProfile(made, choose("p", made, OFFER))
    where = storage or JobStorage("descheduler-test", "kube-system", in_objects=True)
    port = EvictionClient(play.client)
    return JobExecution(play.objects, {"p": profile}, where, port, play.settings, play.surroundings())


@pytest.mark.parametrize(
    ("facts", "takes"),
    [
        pytest.param({}, True, id="of its profile"),
        pytest.param({"profile": "q"}, False, id="of another profile"),
        pytest.param({"uid": ""}, False, id="without a UID"),
        pytest.param({"dry": True}, False, id="that is not sent"),
    ],
)
def test_eviction_is_carried_out_as_a_job(facts: dict[str, Any], *, takes: bool) -> None:
    assert execution(LivingCluster(acts=False)).takes(replace(make_eviction("a"), **facts)) is takes


SURGES = {"single_replicas": SINGLE_REPLICAS[1]}
WEB = Owner("ReplicaSet", "web", "w", "apps/v1", controller=True)


def new_job(args: dict[str, Any], controller: Owner | None = WEB) -> Any:
    """The job that is created for a pod of this controller, where no scheduler runs."""
    cluster = LivingCluster([node("n1"), pod("web-0", on="n1")], acts=False)
    uid = cluster.pods()[0]["metadata"]["uid"]
    eviction = PlannedEviction("shop", "web-0", uid, "n1", "p", "Plugin", controller=controller)
    execution(cluster, **args).execute([eviction])
    (job,) = Play(cluster).jobs()
    return job


@pytest.mark.parametrize(
    ("args", "controller", "surge"),
    [
        pytest.param(SURGES, WEB, {"isRequired": True}, id="its only pod would stay otherwise"),
        pytest.param(SURGES | {"skip_check_expected_replicas": True}, WEB, {}, id="its only pod may leave"),
        pytest.param({}, WEB, None, id="the policy wants none"),
        pytest.param(SURGES, replace(WEB, kind="StatefulSet"), None, id="it is a StatefulSet"),
        pytest.param(SURGES, None, None, id="there is none"),
        pytest.param(SURGES | {"default_job_mode": "EvictDirectly"}, WEB, None, id="no room is held"),
    ],
)
def test_job_knows_whether_its_workload_is_to_be_surged(
    args: dict[str, Any], controller: Owner | None, surge: dict[str, bool] | None
) -> None:
    text = new_job(args, controller).annotations.get(SURGE_ANNOTATION)

    assert (None if text is None else json.loads(text)) == surge


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(None, {}, id="nothing"),
        pytest.param(DeleteOptions(), {}, id="nothing of that"),
        pytest.param(DeleteOptions(grace_period_seconds=0), {"gracePeriodSeconds": 0}, id="none at all"),
    ],
)
def test_job_knows_the_grace_period_that_the_policy_states(options: Any, expected: dict[str, int]) -> None:
    assert new_job({"default_delete_options": options}).delete_options == expected


def asked(*, uid: bool = False, app: str = "web") -> LivingCluster:
    """A user has created a job for a pod of a Deployment, or for a bare pod."""
    objects = [pod("bare", on="n1")] if app == "bare" else []
    cluster = living_cluster(2, [deployment("web", 3, on=["n1"] * 3, grace_seconds=1)], objects)
    made = job_for(cluster.pods(app)[0], "", name="job")
    made["spec"]["podRef"] |= {} if uid else {"uid": ""}
    cluster.add(made)
    return cluster


def carried_out(cluster: LivingCluster, way: FaultyWay | None = None, **facts: Any) -> UsersJobs:
    found = [each for kind in KINDS for each in cluster.all(kind)]
    return execution(cluster, way, **facts).carry_out_users(snapshot_from_objects(found), EVERYWHERE)


def test_job_of_a_user_evicts_its_pod_and_names_it_by_its_uid() -> None:
    cluster = asked()
    uid = cluster.pods("web")[0]["metadata"]["uid"]

    made = carried_out(cluster)

    (job,) = cluster.all(JOBS)
    assert (job["spec"]["podRef"]["uid"], job["status"]["phase"]) == (uid, "Succeeded")
    assert (made.num_started, made.num_succeeded, [move.pod.uid for move in made.evicted]) == (1, 1, [uid])


def patched(cluster: LivingCluster, patch: Object, ending: str = "") -> Callable[[], object]:
    """Has somebody change the job."""
    body, kind = json.dumps(patch).encode(), "application/merge-patch+json"
    return lambda: cluster.client(agent="admin").send("PATCH", f"{PATH}/job{ending}", body=body, content_type=kind)


@pytest.mark.parametrize(
    ("reference", "is_evicted"),
    [
        pytest.param({"name": "another"}, False, id="another name"),
        pytest.param({"namespace": "another"}, False, id="another namespace"),
        pytest.param({"uid": "another"}, False, id="another UID"),
        pytest.param({}, True, id="the same pod"),
    ],
)
def test_job_that_names_another_pod_by_now_evicts_nothing(reference: dict[str, str], *, is_evicted: bool) -> None:
    cluster = asked(uid=True)
    way = FaultyWay(cluster.api)
    way.before("GET", "/podmigrationjobs/job", patched(cluster, {"spec": {"podRef": reference}}))

    made = carried_out(cluster, way)

    assert len(cluster.api.sent("POST", "/eviction")) == is_evicted
    told = (OutcomeCode.JOB_WAITS, "its podRef was changed during the run")
    assert is_evicted or [(each.code, each.message) for each in made.outcomes] == [told]


def test_job_that_is_deleted_before_its_turn_evicts_nothing() -> None:
    cluster = asked()
    way = FaultyWay(cluster.api)
    way.before("GET", "/podmigrationjobs/job", lambda: cluster.remove(cluster.all(JOBS)[0]))

    (outcome,) = carried_out(cluster, way).outcomes

    assert (outcome.code, outcome.message) == (OutcomeCode.JOB_DELETED, "another client deleted the PodMigrationJob")


@pytest.mark.parametrize("ends_before", [False, True])
def test_job_for_a_protected_pod_fails_unless_it_has_ended(*, ends_before: bool) -> None:
    cluster = asked(app="bare")
    way = FaultyWay(cluster.api)
    if ends_before:
        way.before("GET", "/podmigrationjobs/job", patched(cluster, {"status": {"phase": "Aborted"}}, "/status"))

    (outcome,) = carried_out(cluster, way).outcomes

    assert outcome.code is OutcomeCode.PROTECTED
    assert status_of(cluster)["phase"] == ("Aborted" if ends_before else "Failed")


def lease(cluster: LivingCluster, holder: str) -> Object:
    """That of koord-descheduler, which has just been renewed."""
    spec = {"holderIdentity": holder, "renewTime": rfc3339(cluster.clock.now()), "leaseDurationSeconds": 600}
    metadata = {"name": "koord-descheduler", "namespace": "koordinator-system"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("storage", "holder", "num_left", "is_evicted"),
    [
        pytest.param(JobStorage("o", "kube-system", in_objects=True), "", 0, True, id="nobody else does"),
        pytest.param(JobStorage("o", "kube-system", in_objects=True), "koord", 1, False, id="koord-descheduler runs"),
        pytest.param(JobStorage("o", "kube-system", in_objects=False), "", 1, False, id="jobs are ConfigMaps"),
        pytest.param(
            JobStorage("o", "kube-system", in_objects=True, is_first_shard=False), "", 0, False, id="another shard does"
        ),
    ],
)
def test_jobs_of_users_are_carried_out_once(
    storage: JobStorage, holder: str, num_left: int, *, is_evicted: bool
) -> None:
    cluster = asked()
    if holder:
        cluster.add(lease(cluster, holder))

    made = carried_out(cluster, storage=storage)

    assert (made.num_left, len(cluster.api.sent("POST", "/eviction"))) == (num_left, is_evicted)


def test_policy_that_labels_ask_for_in_vain_is_told() -> None:
    cluster = asked()
    patched(cluster, {"metadata": {"labels": {"koordinator.sh/evict-policy": "Delete"}}})()

    assert carried_out(cluster).unheeded == ("Delete",)
    assert carried_out(asked()).unheeded == ()


def test_later_pod_of_the_same_name_is_not_the_one_that_was_judged() -> None:
    cluster = asked()
    judged = cluster.pods("web")[0]
    name = judged["metadata"]["name"]
    way = FaultyWay(cluster.api)

    def succeed() -> None:
        cluster.remove(judged)
        metadata = {key: value for key, value in judged["metadata"].items() if key != "uid"}
        cluster.add(judged | {"metadata": metadata})

    way.before("GET", f"/pods/{name}", succeed)

    (outcome,) = carried_out(cluster, way).outcomes

    assert outcome.code is OutcomeCode.POD_GONE
    assert (status_of(cluster)["reason"], cluster.api.sent("POST", "/eviction")) == ("MissingPod", [])
