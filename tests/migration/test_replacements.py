"""Which pod has come in place of another: one of its workload, newer than the eviction, and that of no other job."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.machine import evicting
from descheduler.migration.job.seen import RoomState
from descheduler.migration.replacements import Replacements, Successors, came_after, is_replaced, successors_of
from descheduler.migration.room.koordinator.provider import ReservationRooms
from descheduler.model.koordinator.eviction_annotations import REPLACEMENT_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Owner, Pod
from descheduler.placement.prover import LandingProver
from tests.builders import NOW, make_node, make_pod, make_snapshot, owner
from tests.living.builders import living_cluster, pod
from tests.living.clock import rfc3339
from tests.living.cluster import LivingCluster
from tests.living.scheduling.reservations import ALLOCATED
from tests.migration.stand_ins import make_eviction

OWNER = "the-owner"
ASKED = NOW + timedelta(seconds=60)
LATE = ASKED + timedelta(seconds=15)


def born(name: str, seconds: float = 70.0, *, on: str = "n2", owner: str = OWNER) -> dict[str, Any]:
    """A pod of the workload, created so long after the job."""
    made = pod(name, on=on)
    made["metadata"] |= {
        "uid": f"uid-{name}",
        "creationTimestamp": rfc3339(NOW + timedelta(seconds=seconds)),
        "ownerReferences": [{"kind": "ReplicaSet", "name": "rs", "uid": owner, "controller": True}],
    }
    return made


def cluster_of(*pods: dict[str, Any]) -> LivingCluster:
    return living_cluster(3, (), pods, acts=False, settle_seconds=0.0)


def job(name: str = "j", **facts: Any) -> MigrationJob:
    """A job whose pod was asked to leave a minute after its creation."""
    made = MigrationJob(name, "Running", "shop", "old", "uid-old", created_at=NOW, uid=name, **facts)
    leaving: Pod = make_pod("old", namespace="shop", uid="uid-old", node="n1")
    return evicting(made, leaving, ASKED, asked_at=ASKED)


def find(cluster: LivingCluster, of: MigrationJob, now: datetime = ASKED, known: Replacements | None = None) -> str:
    """The name of the pod that came, "" for none."""
    replacements = known or Replacements(ObjectCalls(cluster.client()))
    found = replacements.find(Successors("shop", OWNER), of, now)
    return "" if found is None else found.name


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(born("older", 59.0), id="older than the eviction"),
        pytest.param(born("foreign", owner="another"), id="of another workload"),
        pytest.param(born("old"), id="new and of the same name"),
    ],
)
def test_only_a_newer_pod_of_the_workload_is_a_replacement(other: dict[str, Any]) -> None:
    expected = "old" if other["metadata"]["name"] == "old" else ""
    other["metadata"]["uid"] = "another-uid"
    assert find(cluster_of(other), job()) == expected


def test_a_pod_of_the_second_of_the_eviction_is_a_replacement() -> None:
    assert find(cluster_of(born("at-once", 60.0)), job()) == "at-once"


def test_a_pod_that_seems_older_counts_when_no_newer_one_comes_for_a_while() -> None:
    cluster = cluster_of(born("older", 59.0))
    assert find(cluster, job(), LATE) == "older"
    cluster.add(born("newer", on=""))
    assert find(cluster, job(), LATE) == "newer"


def test_a_pod_from_before_the_job_never_counts() -> None:
    assert find(cluster_of(born("ancient", -1.0)), job(), LATE) == ""


def test_a_pod_has_come_for_one_job_only() -> None:
    cluster = cluster_of(born("first"), born("second", 71.0, on=""))
    replacements = Replacements(ObjectCalls(cluster.client()))
    assert find(cluster, job("one"), known=replacements) == "first"
    assert find(cluster, job("two"), known=replacements) == "second"
    assert find(cluster, job("one"), known=replacements) == "first"


def test_of_two_that_came_together_the_one_that_is_pending_needs_the_room() -> None:
    cluster = cluster_of(born("a", on="n3"), born("b", on=""))
    assert find(cluster, job(node_name="n2")) == "b"


def held_by(reservation: str, *, seconds: float = 70.0, on: str) -> dict[str, Any]:
    """A pod of the workload that uses this Reservation."""
    made = born("a", seconds, on=on)
    made["metadata"]["annotations"] = {ALLOCATED: json.dumps({"name": reservation, "uid": "u"})}
    return made


MINE = {
    "apiVersion": "scheduling.koordinator.sh/v1alpha1",
    "kind": "Reservation",
    "metadata": {"name": "mine", "uid": "r"},
    "spec": {"template": {}, "owners": [{}]},
    "status": {"phase": "Available", "nodeName": "n2", "conditions": [{"type": "Scheduled", "status": "True"}]},
}
"""A Reservation on n2 that its status says no pod uses yet."""


def seen(*objects: dict[str, Any]) -> tuple[RoomState, str]:
    """The state of the Reservation `mine` of a job whose pod was asked to leave, and the replacement."""
    successors = Successors("shop", OWNER).encoded()
    job_of_mine = job(node_name="n2", reservation_name="mine", annotations={REPLACEMENT_ANNOTATION: successors})
    room, replacement = ReservationRooms(ObjectCalls(cluster_of(*objects).client()), "test").look(job_of_mine, ASKED)
    assert room.miss is None
    return room.state, "" if replacement is None else replacement.name


def test_one_that_uses_another_reservation_has_come_for_the_job_of_that() -> None:
    assert seen(held_by("another", on="n3"), MINE) == (RoomState.HELD, "")


def test_one_that_uses_the_reservation_has_come_although_its_status_follows_later() -> None:
    assert seen(held_by("mine", on="n2"), MINE) == (RoomState.HELD, "a")


def test_one_that_used_a_reservation_that_is_gone_has_taken_the_room() -> None:
    assert seen(held_by("mine", on="n2")) == (RoomState.TAKEN, "a")


def test_reservation_of_a_user_says_by_its_owner_whose_replacement_it_is_for() -> None:
    owner = {"controller": {"kind": "ReplicaSet", "name": "rs", "uid": OWNER}}
    cluster = cluster_of(held_by("mine", on="n2"), {**MINE, "spec": {"template": {}, "owners": [owner]}})
    rooms = ReservationRooms(ObjectCalls(cluster.client()), "test")

    _, replacement = rooms.look(job(node_name="n2", reservation_name="mine"), ASKED)

    assert replacement is not None
    assert replacement.name == "a"


@pytest.mark.parametrize(("uid", "came"), [("uid-named", "named"), ("uid-of-one-that-is-gone", None)])
def test_job_of_a_user_whose_reservation_is_gone_has_the_replacement_that_it_names(uid: str, came: str | None) -> None:
    """By name and UID: another pod may have the name by now."""
    mine = job(reservation_name="gone", replacement=ObjectReference("shop", "named", uid))
    rooms = ReservationRooms(ObjectCalls(cluster_of(born("named")).client()), "test")

    _, replacement = rooms.look(mine, ASKED)

    assert (None if replacement is None else replacement.name) == came


def test_of_several_that_on_the_node_of_the_room_goes_first() -> None:
    cluster = cluster_of(born("elsewhere", on="n3"), born("there", 71.0, on="n2"))
    assert find(cluster, job(node_name="n2")) == "there"


def test_the_one_that_the_job_names_goes_before_all_others() -> None:
    cluster = cluster_of(born("there", on="n2"), born("named", 71.0, on="n3"))
    named = ObjectReference("shop", "named", "uid-named")
    assert find(cluster, job(node_name="n2", replacement=named)) == "named"


@pytest.mark.parametrize("namespace", ["../../nodes", "a/b", "a?watch=1", ""])
def test_annotation_with_a_namespace_that_cannot_be_one_leads_nowhere(namespace: str) -> None:
    assert Successors.decoded(Successors(namespace, OWNER).encoded()) is None


def test_annotation_is_read_as_it_was_written() -> None:
    written = Successors("shop", OWNER, {"app": "web"})

    assert Successors.decoded(written.encoded()) == written


WEB = Owner("ReplicaSet", "rs", OWNER, controller=True)


@pytest.mark.parametrize(
    ("controller", "labels", "selector"),
    [
        pytest.param(WEB, {"app": "web", "tier": "a"}, "app=web,tier=a", id="labels"),
        pytest.param(WEB, {}, None, id="no labels"),
        pytest.param(WEB, {"app": "web", "statefulset.kubernetes.io/pod-name": "web-0"}, "app=web", id="one of a name"),
        pytest.param(WEB, {"apps.kubernetes.io/pod-index": "0"}, None, id="an index"),
    ],
)
def test_replacement_is_known_by_its_owner_and_the_labels_that_all_of_its_pods_have(
    controller: Owner, labels: dict[str, str], selector: str | None
) -> None:
    found = successors_of(replace(make_eviction("web-0"), controller=controller, labels=labels))

    assert found is not None
    assert (found.namespace, found.owner, found.selector) == ("shop", OWNER, selector)


def test_nothing_is_known_to_come_in_place_of_a_pod_without_a_controller() -> None:
    assert successors_of(make_eviction("web-0")) is None
    assert not is_replaced(make_eviction("web-0"))
    assert is_replaced(replace(make_eviction("web-0"), controller=WEB))


@pytest.mark.parametrize(
    ("facts", "is_known_to_come"),
    [
        pytest.param({}, True, id="it is predicted"),
        pytest.param({"pod": None}, False, id="nothing comes"),
        pytest.param({"barred": "a quota"}, False, id="it is barred"),
    ],
)
def test_pod_is_replaced_as_far_as_the_plan_knows(facts: dict[str, Any], *, is_known_to_come: bool) -> None:
    victim = make_pod("web-0")
    landing = LandingProver(make_snapshot([make_node("n2")], [victim])).consider(victim)
    assert landing.replacement is not None
    told = replace(landing, replacement=replace(landing.replacement, **facts))
    unknown = replace(landing, replacement=None)

    assert is_replaced(replace(make_eviction("web-0"), controller=WEB, landing=told)) is is_known_to_come
    assert is_replaced(replace(make_eviction("web-0"), controller=WEB, landing=unknown))
    assert not is_replaced(replace(make_eviction("web-0"), landing=told))


def test_pod_of_no_controller_or_of_another_is_none_of_the_successors() -> None:
    successors = Successors("shop", OWNER)

    assert successors.has(make_pod("a", owners=[owner("ReplicaSet/rs", uid=OWNER)]))
    assert not successors.has(make_pod("a", owners=[owner("ReplicaSet/rs", uid="another")]))
    assert not successors.has(make_pod("a", owners=[owner("ReplicaSet/rs", uid=OWNER, controller=False)]))


def test_pod_of_the_job_itself_or_one_that_leaves_is_no_replacement() -> None:
    itself, leaving = born("old"), born("leaving")
    itself["metadata"]["uid"] = "uid-old"
    leaving["metadata"] |= {"deletionTimestamp": rfc3339(NOW), "finalizers": ["x"]}

    assert find(cluster_of(itself, leaving), job(), LATE) == ""


def test_pod_counts_whose_time_or_that_of_the_eviction_is_unknown() -> None:
    timeless = born("timeless")
    made = MigrationJob("j", "Running", "shop", "old", "uid-old", uid="j")
    unasked = evicting(made, make_pod("old", node="n1"), NOW, asked_at=None)

    assert find(cluster_of(timeless), replace(unasked, conditions=())) == "timeless"
    assert came_after(make_pod("a"), replace(unasked, conditions=()))
    assert came_after(make_pod("a", age=None), job())
    assert not came_after(make_pod("a", age=3600), job())


def test_oldest_replacement_goes_first_and_ties_go_by_name() -> None:
    assert find(cluster_of(born("a", 72.0), born("b", 71.0)), job()) == "b"
    assert find(cluster_of(born("b"), born("a")), job()) == "a"


def test_pod_with_the_name_of_the_one_that_left_goes_before_one_on_the_node_of_the_room() -> None:
    namesake = born("old", 72.0, on="n3")
    namesake["metadata"]["uid"] = "new"

    assert find(cluster_of(namesake, born("there")), job(node_name="n2")) == "old"


def test_pod_that_waits_for_a_node_may_have_come_for_any_job() -> None:
    cluster = cluster_of(born("waits", on=""))
    replacements = Replacements(ObjectCalls(cluster.client()))

    assert [find(cluster, job(name), known=replacements) for name in ("one", "two")] == ["waits", "waits"]
