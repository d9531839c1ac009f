"""Jobs end well on a cluster that lives: room is held, the pod leaves, its replacement takes the room and is ready."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from descheduler.migration.job.machine import JobTerms
from descheduler.migration.roads.adoption import adopted_task
from descheduler.migration.room.labels import JOB_LABEL
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Answer
from tests.faults.wire import json_answer
from tests.living.api.server import Call
from tests.living.builders import (
    LOWEST,
    TAINTED,
    budget,
    deployment,
    living_cluster,
    node,
    priority_class,
    stateful_set,
)
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.roads.playing import Play
from tests.migration.stand_ins import AtOnce

KOORD = "koord-scheduler"


def test_a_pod_of_koord_scheduler_moves_to_its_reservation() -> None:
    cluster = living_cluster(3, [deployment("web", 2, on=["n1", "n1"], scheduler=KOORD)])
    play = Play(cluster)
    victim = cluster.pods("web")[0]
    (outcome,) = play.evict(victim)
    assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.DONE)
    (job,) = play.jobs()
    assert (job.phase, job.condition) == ("Succeeded", "Complete")
    assert job.replacement is not None
    moved = cluster.get("pods", job.replacement.name, "shop")
    assert moved is not None
    assert moved["spec"]["nodeName"] == job.node_name != "n1"


def test_a_pod_of_any_scheduler_moves_to_its_placeholder() -> None:
    cluster = living_cluster([TAINTED, node("n2")], [deployment("web", 1, on=["n1"])], [LOWEST])
    play = Play(cluster, provider="placeholder", keeps_objects=False)
    (outcome,) = play.evict(*cluster.pods("web"))
    assert outcome.code is OutcomeCode.DONE
    (job,) = play.jobs()
    assert job.phase == "Succeeded"
    assert left_over(cluster) == []


def test_a_pod_of_a_stateful_set_moves_with_its_name() -> None:
    cluster = living_cluster([TAINTED, node("n2")], [stateful_set("db", 1, on=["n1"])], [LOWEST])
    play = Play(cluster, provider="placeholder", keeps_objects=False)
    (outcome,) = play.evict(*cluster.pods("db"))
    assert outcome.code is OutcomeCode.DONE
    (pod,) = cluster.pods("db")
    assert pod["spec"]["nodeName"] == "n2"
    assert left_over(cluster) == []


def test_a_replacement_that_fits_nowhere_else_preempts_its_placeholder() -> None:
    big = deployment("big", 1, on=["n1"], cpu="3")
    cluster = living_cluster([TAINTED, node("n2")], [big, deployment("small", 1, on=["n2"], cpu="1")], [LOWEST])
    (outcome,) = Play(cluster, provider="placeholder", keeps_objects=False).evict(*cluster.pods("big"))
    assert outcome.code is OutcomeCode.DONE
    assert [pod["spec"]["nodeName"] for pod in cluster.pods("big")] == ["n2"]
    assert left_over(cluster) == []


def test_a_placeholder_makes_way_for_a_replacement_that_preempts_nobody() -> None:
    meek = priority_class("meek", 0, preempts=False)
    big = deployment("big", 1, on=["n1"], cpu="3", priorityClassName="meek")
    cluster = living_cluster([TAINTED, node("n2")], [big], [LOWEST, meek])
    (outcome,) = Play(cluster, provider="placeholder", keeps_objects=False).evict(*cluster.pods("big"))
    assert outcome.code is OutcomeCode.DONE
    assert [pod["spec"]["nodeName"] for pod in cluster.pods("big")] == ["n2"]


@pytest.mark.parametrize("provider", ["koordinator", "placeholder"])
def test_nothing_is_evicted_where_no_room_can_be_held(provider: str) -> None:
    full = deployment("full", 2, on=["n1", "n2"], cpu="3", scheduler=KOORD)
    cluster = living_cluster(2, [full], [LOWEST])
    before = [pod["metadata"]["uid"] for pod in cluster.pods("full")]
    (outcome,) = Play(cluster, provider, ttl=timedelta(seconds=60)).evict(cluster.pods("full")[0])
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.NO_ROOM)
    assert [pod["metadata"]["uid"] for pod in cluster.pods("full")] == before
    assert left_over(cluster) == []


def test_the_room_is_not_looked_at_again_because_a_status_was_written() -> None:
    cluster = living_cluster(3, [deployment("web", 1, on=["n1"], scheduler=KOORD)])
    Play(cluster).evict(*cluster.pods("web"))
    looks = [call.at for call in cluster.api.sent("GET") if "/reservations/" in call.request.path]
    assert min(later - earlier for earlier, later in pairwise(looks)) > 0.3


def test_pods_of_one_workload_leave_one_after_the_other() -> None:
    cluster = living_cluster(4, [deployment("web", 3, on=["n1", "n1", "n1"], scheduler=KOORD)])
    seen: list[int] = []
    play = Play(cluster, halted=lambda: seen.append(len(ready(cluster, "web"))))
    assert {outcome.code for outcome in play.evict(*cluster.pods("web"))} == {OutcomeCode.DONE}
    assert min(seen) == 2


def test_a_budget_that_refuses_is_waited_for() -> None:
    web = deployment("web", 3, on=["n1", "n1"], scheduler=KOORD)
    cluster = living_cluster(4, [web], [budget("web", minAvailable=3)])
    (outcome,) = Play(cluster).evict(cluster.pods("web")[0])
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.BUDGET)
    assert left_over(cluster) == []


def test_a_run_that_is_stopped_gives_back_what_it_holds() -> None:
    cluster = living_cluster(2, [deployment("full", 2, on=["n1", "n2"], cpu="3", scheduler=KOORD)])
    play = Play(cluster)
    end = cluster.clock.monotonic() + 20
    stopped = OutcomeCode.STOPPED, "the run was interrupted"
    play.halted = lambda: stopped if cluster.clock.monotonic() > end else None
    (outcome,) = play.evict(cluster.pods("full")[0])
    assert (outcome.kind, outcome.code) == (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.STOPPED)
    assert left_over(cluster) == []
    assert [job.phase for job in play.jobs()] == ["Aborted"]


def left_over(cluster: LivingCluster) -> list[str]:
    """What still holds room for nobody."""
    placeholders = [pod["metadata"]["name"] for pod in cluster.pods() if JOB_LABEL in pod["metadata"]["labels"]]
    reservations = cluster.all("reservations.scheduling.koordinator.sh")
    return placeholders + [each["metadata"]["name"] for each in reservations if each["status"]["phase"] != "Succeeded"]


def ready(cluster: LivingCluster, app: str) -> list[str]:
    """The pods of `app` that serve."""
    return [
        pod["metadata"]["name"]
        for pod in cluster.pods(app)
        if any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", ()))
        and "deletionTimestamp" not in pod["metadata"]
    ]


def test_a_pod_is_deleted_past_its_budget_where_the_policy_says_so() -> None:
    web = deployment("web", 1, on=["n1"], labels={"koordinator.sh/evict-policy": "Delete"})
    cluster = living_cluster(2, [web], [budget("web", minAvailable=1)])
    terms = JobTerms(allowed_policies=("Delete",))
    (outcome,) = Play(cluster, provider="none", mode="EvictDirectly", terms=terms).evict(*cluster.pods("web"))
    assert outcome.code is OutcomeCode.DONE
    assert cluster.api.sent("POST", "/eviction") == []


def test_a_pod_that_is_evicted_softly_stays_until_somebody_deletes_it() -> None:
    web = deployment("web", 1, on=["n1"], labels={"koordinator.sh/evict-policy": "SoftEviction"})
    cluster = living_cluster(2, [web])
    (victim,) = cluster.pods("web")
    terms = JobTerms(allowed_policies=("SoftEviction",))
    play = Play(cluster, provider="none", mode="EvictDirectly", ttl=timedelta(seconds=30), terms=terms)
    (outcome,) = play.evict(victim)
    (pod,) = cluster.pods("web")
    asked = json.loads(pod["metadata"]["annotations"]["scheduling.koordinator.sh/soft-eviction"])
    assert (asked["initiator"], pod["metadata"]["uid"]) == ("descheduler", victim["metadata"]["uid"])
    assert (outcome.kind, outcome.code) == (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER)
    assert outcome.message.endswith("; the pod was asked to leave and is not gone yet")
    assert [(job.phase, job.reason) for job in play.jobs()] == [("Failed", "Timeout")]
    assert not any("evicted" in condition.message for job in play.jobs() for condition in job.conditions)


def test_the_job_of_a_user_who_states_no_uid_evicts_the_pod_of_that_name() -> None:
    cluster = living_cluster(3, [deployment("web", 2, on=["n1", "n1"], scheduler=KOORD)])
    play, victim = Play(cluster), cluster.pods("web")[0]
    cluster.add(users_job(victim["metadata"]["name"], deleteOptions={"gracePeriodSeconds": 7}))

    play.run([adopted_task(job) for job in play.jobs()])

    (job,) = play.jobs()
    assert (job.phase, job.pod_uid) == ("Succeeded", victim["metadata"]["uid"])
    (eviction,) = cluster.api.sent("POST", "/eviction")
    assert eviction.request.document()["deleteOptions"]["gracePeriodSeconds"] == 7


def test_a_reservation_that_a_user_names_and_that_is_not_there_was_not_created() -> None:
    cluster = living_cluster(3, [deployment("web", 2, on=["n1", "n1"], scheduler=KOORD)])
    play, victim = Play(cluster), cluster.pods("web")[0]
    cluster.add(users_job(victim["metadata"]["name"], reservationOptions={"reservationRef": {"name": "mine"}}))

    play.run([adopted_task(job) for job in play.jobs()])

    (job,) = play.jobs()
    assert (job.phase, job.reason, job.conditions) == ("Failed", "MissingReservation", ())


def users_job(pod: str, **spec: object) -> dict[str, object]:
    """A job as `kubectl create` makes it."""
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "by-hand"},
        "spec": {"podRef": {"namespace": "shop", "name": pod}, "mode": "ReservationFirst", **spec},
    }


@dataclass
class Denied(Passage):
    """The API server refuses requests of one method on paths that end so."""

    method: str
    ending: str

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """403, or what the server answers."""
        if call.request.method == self.method and call.request.path.endswith(self.ending):
            return json_answer(403, {"kind": "Status", "reason": "Forbidden", "message": "forbidden", "code": 403})
        return carry_out()


@pytest.mark.parametrize(
    ("provider", "ending", "rule"),
    [
        ("koordinator", "podmigrationjobs", "resources: [podmigrationjobs], verbs: [create]"),
        ("koordinator", "reservations", "resources: [reservations], verbs: [create]"),
        ("placeholder", "/pods", "resources: [pods], verbs: [create]"),
    ],
)
def test_a_right_that_is_missing_is_told_with_the_rule_that_grants_it(provider: str, ending: str, rule: str) -> None:
    cluster = living_cluster(3, [deployment("web", 1, on=["n1"], scheduler=KOORD)], [LOWEST])

    (outcome,) = Play(cluster, provider).through(Denied("POST", ending)).evict(*cluster.pods("web"))

    assert rule in outcome.message
    assert cluster.nodes_of("web") == ["n1"]


class Hanging(AtOnce):
    """Makes each call at once, but for those after the first eviction was asked for, which never end."""

    def __init__(self, cluster: LivingCluster, *, ends_eviction: bool) -> None:
        self._cluster = cluster
        self._ends_eviction = ends_eviction
        self.hangs = False

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        if self.hangs:
            return Future()
        before = len(self._cluster.api.sent("POST", "/eviction"))
        future = super().submit(call)
        if len(self._cluster.api.sent("POST", "/eviction")) == before:
            return future
        self.hangs = True
        return future if self._ends_eviction else Future()


@pytest.mark.parametrize(
    ("ends_eviction", "code"),
    [(False, OutcomeCode.OUTCOME_UNKNOWN), (True, OutcomeCode.NOT_REPLACED)],
    ids=["asked", "granted"],
)
def test_room_is_kept_for_a_pod_that_may_have_been_evicted_when_the_run_is_stopped(
    ends_eviction: bool, code: OutcomeCode
) -> None:
    cluster = living_cluster(3, [deployment("web", 1, on=["n1"], scheduler=KOORD)])
    calls = Hanging(cluster, ends_eviction=ends_eviction)
    settings = DispatchSettings(qps=100.0, burst=100, drain_seconds=0.0)
    stopped = OutcomeCode.STOPPED, "the run was interrupted"
    play = Play(cluster, settings=settings, calls=calls, halted=lambda: stopped if calls.hangs else None)
    (outcome,) = play.evict(*cluster.pods("web"))
    assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, code)
    assert [job.phase for job in play.jobs()] == ["Running"]
    assert len(cluster.all("reservations.scheduling.koordinator.sh")) == 1
    assert list(play.open_calls.pods) == ([] if ends_eviction else [f"shop/{outcome.eviction.name}"])
