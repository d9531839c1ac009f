"""Placeholders are created once, told from pods that only look like them, and given back when nobody needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.errors import ApiError
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.seen import ABSENT, Miss, Room, RoomState
from descheduler.migration.room.labels import labels_of, manager_of, placeholder_name_of
from descheduler.migration.room.placeholder.provider import PlaceholderRooms
from descheduler.migration.room.provider import CannotHold, CannotHoldNow, CannotHoldYet
from descheduler.migration.room.sweeping import KnownJobs
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import TransportError
from tests.builders import NOW, ago
from tests.faults.faults import Act, Delivery, Fault
from tests.living.builders import priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.migration.room.still import OLD, OWNER, SUCCESSORS, SURGED, UID, Object, job, named, pod, still

NAME = placeholder_name_of(UID)
CLASSES = (priority_class("descheduler-placeholder", -1_000_000_000), priority_class("high", 1000))
ASKING = job(reservation_name="")
JOB = job(reservation_name=NAME)
EVICTED = job(is_evicted=True, reservation_name=NAME)
Edit = Callable[[Object], object]


def placeholder(
    *, job_uid: str = UID, of: str = OWNER, name: str = "", node: str = "", namespace: str = "shop", **facts: Any
) -> Object:
    """A placeholder as this program makes it; `facts` are of its spec, and `metadata` and `conditions`."""
    metadata, conditions = facts.pop("metadata", {}), facts.pop("conditions", [])
    spec = {
        "priorityClassName": "descheduler-placeholder",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [{"name": "placeholder", "image": "registry.k8s.io/pause:3.10"}],
        **({"nodeName": node} if node else {}),
        **facts,
    }
    name = name or placeholder_name_of(job_uid)
    head = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels_of(job_uid, of)}
    status = {"phase": "Running" if node else "Pending", "conditions": conditions}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": head | metadata, "spec": spec, "status": status}


def world(*objects: Object | None) -> LivingCluster:
    """A cluster with these objects and the classes of pods."""
    return still(*CLASSES, *objects)


def rooms(cluster: LivingCluster, way: FaultyWay | None = None) -> PlaceholderRooms:
    return PlaceholderRooms(ObjectCalls(cluster.client(passage=way)), OWNER)


def names(cluster: LivingCluster) -> list[str]:
    """The pods beside the one that is to leave."""
    found = (each["metadata"]["name"] for each in cluster.all("pods"))
    return sorted(name for name in found if name != "web-0")


def on_creation(cluster: LivingCluster, fault: AnyFault) -> FaultyWay:
    """A way on which the creation of a pod meets this fault."""
    return FaultyWay(cluster.api, lambda call: fault if call.request.method == "POST" else None)


def test_placeholder_is_named_after_the_job_and_created_in_its_name() -> None:
    cluster = world(OLD)

    assert rooms(cluster).hold(ASKING, NOW) == NAME
    assert rooms(cluster).hold(ASKING, NOW) == NAME  # as after a call whose end is not known
    assert names(cluster) == [NAME]
    found = cluster.get("pods", NAME, "shop")
    assert found is not None
    assert manager_of(UID) in {each["manager"] for each in found["metadata"]["managedFields"]}


@pytest.mark.parametrize("found", [None, pod("web-0") | {"metadata": {**OLD["metadata"], "uid": "new"}}])
def test_no_room_is_held_for_a_pod_that_is_gone(found: Object | None) -> None:
    cluster = world(found)

    with pytest.raises(CannotHold, match="pod shop/web-0 is gone"):
        rooms(cluster).hold(ASKING, NOW)
    assert names(cluster) == []


@pytest.mark.parametrize("code", [400, 403, 404, 422])
def test_refused_creation_is_no_room_now(code: int) -> None:
    cluster = world(OLD)

    with pytest.raises(CannotHoldNow, match="the placeholder cannot be created"):
        rooms(cluster, on_creation(cluster, Fault(Act.NEVER, code))).hold(ASKING, NOW)


def test_placeholder_that_was_created_without_an_answer_is_found() -> None:
    cluster = world(OLD)
    way = on_creation(cluster, Fault(Act.AT_ONCE, delivery=Delivery.RESET))

    assert rooms(cluster, way).hold(ASKING, NOW) == NAME


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        pytest.param(Fault(Act.NEVER, delivery=Delivery.RESET), TransportError, id="no answer"),
        pytest.param(Fault(Act.NEVER, 429), ApiError, id="too many requests"),
        pytest.param(Fault(Act.NEVER, 503), ApiError, id="not available"),
    ],
)
def test_placeholder_that_was_not_created_for_another_reason_is_an_error(fault: Fault, raised: type[Exception]) -> None:
    cluster = world(OLD)

    with pytest.raises(raised):
        rooms(cluster, on_creation(cluster, fault)).hold(ASKING, NOW)


def quota(pods: int) -> Object:
    metadata = {"name": "compute", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": str(pods)}}}


def test_job_waits_for_the_placeholders_of_others_where_a_quota_refuses_its_own() -> None:
    other = replace(ASKING, uid="other")
    beside = world(OLD, quota(2))
    held = rooms(beside)
    held.hold(other, NOW)

    with pytest.raises(CannotHoldYet, match="ResourceQuota of namespace shop"):
        held.hold(ASKING, NOW)
    held.release(other)
    assert held.hold(ASKING, NOW) == NAME

    alone = world(OLD, quota(1))
    with pytest.raises(CannotHoldNow, match="exceeded quota: compute"):
        rooms(alone).hold(ASKING, NOW)


def test_other_refusals_are_not_taken_for_those_of_a_quota() -> None:
    cluster = world(OLD)
    held = rooms(cluster, on_creation(cluster, Fault(Act.NEVER, 403)))

    for each in ("one", "two"):
        with pytest.raises(CannotHoldNow):
            held.hold(replace(ASKING, uid=each), NOW)


def container(**facts: Any) -> Object:
    """Another container than ours."""
    ours = {"name": "placeholder", "image": "registry.k8s.io/pause:3.10"}
    return {"containers": [ours | facts]}


DIFFERENT: dict[str, tuple[Object, str]] = {
    "the label of another policy": ({"of": "another"}, "its label"),
    "another name": ({"name": "web-9"}, "its name is not placeholder-"),
    "an owner": ({"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "w"}]}}, "ReplicaSet w owns it"),
    "another class": ({"priorityClassName": "high"}, "its priorityClassName is high, not descheduler-placeholder"),
    "no class": ({"priorityClassName": None}, "its priorityClassName is not set"),
    "an init container": ({"initContainers": [{"name": "i", "image": "i"}]}, "other containers than placeholder"),
    "another container": (container(name="main"), "other containers than placeholder"),
    "two containers": (
        {"containers": [*container()["containers"], {"name": "proxy", "image": "p"}]},
        "other containers than placeholder",
    ),
    "no container": ({"containers": None}, "other containers than placeholder"),
    "another image": (container(image="evil:3.10"), "its image is evil:3.10, not registry.k8s.io/pause:3.10"),
    "another version of the image": (container(image="registry.k8s.io/pause:4"), "its image is"),
    "no image": (container(image=None), "its image is , not"),
    "a command": (container(command=["sh"]), "its container has a command"),
    "arguments": (container(args=["-c"]), "its container has a command"),
    "a grace period": ({"terminationGracePeriodSeconds": 30}, "a grace period or a token"),
    "a token": ({"automountServiceAccountToken": True}, "a grace period or a token"),
    "perhaps a token": ({"automountServiceAccountToken": None}, "a grace period or a token"),
}
LEFT_ALONE = pytest.mark.parametrize(("facts", "why"), DIFFERENT.values(), ids=DIFFERENT)


@LEFT_ALONE
def test_pod_that_only_looks_like_a_placeholder_is_left_alone_and_told(facts: Object, why: str) -> None:
    found = placeholder(**facts)
    cluster = world(found)

    swept = rooms(cluster).sweep(NONE_KNOWN)

    assert (swept.removed, names(cluster)) == ((), [found["metadata"]["name"]])
    if "of" not in facts:  # what has another label is not even looked at
        (note,) = swept.notes
        assert "was left alone" in note
        assert why in note


@LEFT_ALONE
def test_pod_that_only_looks_like_a_placeholder_holds_no_room(facts: Object, why: str) -> None:
    cluster = world(OLD, placeholder(**facts))

    assert rooms(cluster).look(JOB, NOW) == (ABSENT, None)
    rooms(cluster).release(JOB)
    if "name" not in facts:
        with pytest.raises(CannotHold) as caught:
            rooms(cluster).hold(ASKING, NOW)
        assert f"a pod {NAME} exists, which is not of this job: " in str(caught.value)
        assert why in str(caught.value)
        assert names(cluster) == [NAME]


@pytest.mark.parametrize("image", ["mirror.example:5000/k8s/pause:3.10", "registry.k8s.io/pause:3.10@sha256:abc"])
def test_placeholder_with_our_image_of_a_mirror_is_ours(image: str) -> None:
    cluster = world(placeholder(**container(image=image)))

    assert rooms(cluster).sweep(NONE_KNOWN).removed == (f"shop/{NAME}",)


def test_placeholder_that_is_being_deleted_holds_nothing_any_more() -> None:
    leaving = placeholder(node="n2", metadata={"deletionTimestamp": ago(1), "finalizers": ["x"]})
    cluster = world(OLD, leaving)

    assert rooms(cluster).look(JOB, NOW) == (ABSENT, None)
    with pytest.raises(CannotHold, match="it is being deleted"):
        rooms(cluster).hold(ASKING, NOW)
    rooms(cluster).release(JOB)
    assert rooms(cluster).sweep(NONE_KNOWN).removed == ()
    assert cluster.api.sent("DELETE") == []


UNPLACED = {"type": "PodScheduled", "status": "False"}
WAITS = Room(RoomState.PENDING)
NO_NODE = Room(RoomState.UNSCHEDULABLE, message="the scheduler has found no node for the placeholder")


@pytest.mark.parametrize(
    ("facts", "room"),
    [
        pytest.param({"node": "n2"}, Room(RoomState.HELD, "n2", is_left_over=True), id="it has a node"),
        pytest.param({}, WAITS, id="nobody has looked at it"),
        pytest.param({"conditions": [UNPLACED]}, NO_NODE, id="there is no node for it"),
        pytest.param({"conditions": [{**UNPLACED, "status": "True"}]}, WAITS, id="its node is not written yet"),
        pytest.param({"conditions": [{**UNPLACED, "type": "Ready"}]}, WAITS, id="it is not ready"),
        pytest.param({"conditions": [{"type": "Ready", "status": "False"}, UNPLACED]}, NO_NODE, id="two conditions"),
        pytest.param({"conditions": None}, WAITS, id="no conditions"),
    ],
)
def test_placeholder_says_how_far_the_room_is(facts: Object, room: Room) -> None:
    assert rooms(world(OLD, placeholder(**facts))).look(JOB, NOW) == (room, None)


HELD = Room(RoomState.HELD, "n2", is_left_over=True)
YIELDED = Room(RoomState.YIELDED, "n2", "the placeholder has made way")
TAKEN = Room(RoomState.TAKEN, "n2", taken_by=named("web-1"))
SURGING = replace(JOB, annotations=SUCCESSORS | SURGED)


@pytest.mark.parametrize(
    ("of", "found", "new", "room", "who"),
    [
        pytest.param(JOB, True, pod("web-1", "n2"), HELD, "", id="nothing has left"),
        pytest.param(EVICTED, True, None, HELD, "", id="nobody has come"),
        pytest.param(EVICTED, True, pod("web-1"), HELD, "web-1", id="it has no node yet"),
        pytest.param(EVICTED, False, pod("web-1"), YIELDED, "web-1", id="the placeholder has made way"),
        pytest.param(EVICTED, False, None, YIELDED, "", id="the placeholder is gone, and nobody has come"),
        pytest.param(EVICTED, False, pod("web-1", "n2"), TAKEN, "web-1", id="it has the room"),
        pytest.param(
            EVICTED, True, pod("web-1", "n2"), replace(TAKEN, is_left_over=True), "web-1", id="it is on the node, too"
        ),
        pytest.param(SURGING, False, pod("web-1", "n2"), TAKEN, "web-1", id="it has come beside the old one"),
        pytest.param(replace(EVICTED, annotations={}), False, pod("web-1", "n2"), YIELDED, "", id="nobody is known"),
    ],
)
def test_replacement_takes_the_room_of_a_placeholder(
    of: MigrationJob, new: Object | None, room: Room, who: str, *, found: bool
) -> None:
    seen, replacement = rooms(world(placeholder(node="n2") if found else None, new)).look(of, NOW)

    assert (seen, "" if replacement is None else replacement.name) == (room, who)


@pytest.mark.parametrize("found", [True, False])
def test_replacement_on_another_node_has_missed_the_room(*, found: bool) -> None:
    cluster = world(placeholder(node="n2") if found else None, pod("web-1", "n3"))

    room, _ = rooms(cluster).look(EVICTED, NOW)

    assert (room.state, room.node, room.miss, room.is_left_over) == (RoomState.MISSED, "n3", Miss.ELSEWHERE, found)
    assert "placed replacement shop/web-1 on node n3, not on n2" in room.message


CHANGED: Object = {"priorityClassName": "high"}
BY_US, BY_OTHERS = [{"manager": manager_of(UID)}], [{"manager": "kubectl"}]
NONE_KNOWN = KnownJobs(frozenset(), {}, frozenset())
OVER = KnownJobs(frozenset(), {UID: ASKING}, frozenset())


@pytest.mark.parametrize(
    ("found", "is_removed"),
    [
        pytest.param(placeholder(), True, id="ours"),
        pytest.param(placeholder(metadata={"managedFields": BY_US}, **CHANGED), True, id="ours, changed by admission"),
        pytest.param(placeholder(metadata={"managedFields": BY_OTHERS}, **CHANGED), False, id="changed, of others"),
        pytest.param(placeholder(job_uid="other", name=NAME), False, id="with the label of another job"),
        pytest.param(
            placeholder(metadata={"managedFields": BY_US, "ownerReferences": [{"kind": "Job", "name": "j"}]}),
            False,
            id="with an owner",
        ),
    ],
)
def test_only_what_was_created_for_the_job_is_given_back(found: Object, *, is_removed: bool) -> None:
    released, swept = world(found), world(found)

    rooms(released).release(JOB)
    rooms(swept).sweep(OVER)

    assert names(released) == names(swept) == ([] if is_removed else [NAME])


@pytest.mark.parametrize("facts", [{"pod_namespace": "../x"}, {"uid": "a/b"}])
def test_job_whose_placeholder_can_have_no_such_name_has_none(facts: Object) -> None:
    cluster = world(placeholder())
    rooms(cluster).release(replace(JOB, **facts))
    assert rooms(cluster).look(replace(JOB, **facts), NOW) == (ABSENT, None)
    assert cluster.api.calls == []


@pytest.mark.parametrize(
    ("jobs", "removed", "told"),
    [
        pytest.param(NONE_KNOWN, True, "", id="no more"),
        pytest.param(OVER, True, "", id="over"),
        pytest.param(KnownJobs(frozenset({UID}), {}, frozenset()), False, "", id="live"),
        pytest.param(KnownJobs(frozenset(), {}, frozenset({UID})), False, "is not of this program", id="of others"),
        pytest.param(
            KnownJobs(frozenset(), {UID: replace(ASKING, pod_namespace="a")}, frozenset()),
            False,
            "its job is for a pod in namespace a",
            id="for a pod of another namespace",
        ),
    ],
)
def test_placeholder_goes_when_its_job_is(jobs: KnownJobs, told: str, *, removed: bool) -> None:
    cluster = world(placeholder())

    swept = rooms(cluster).sweep(jobs)

    assert (list(swept.removed), names(cluster)) == (([f"shop/{NAME}"], []) if removed else ([], [NAME]))
    assert [told in note for note in swept.notes] == [True] * bool(told)


def test_placeholder_that_admission_has_changed_is_given_back_at_once() -> None:
    cluster = world(OLD)
    cluster.api.mutating.append(lambda created: created["spec"].update(terminationGracePeriodSeconds=30))

    with pytest.raises(CannotHold, match=r"was not created as asked for \(admission webhook\): it has a grace period"):
        rooms(cluster).hold(ASKING, NOW)
    assert names(cluster) == []


def test_changed_placeholder_that_is_being_deleted_is_told() -> None:
    """It is not removed a second time."""
    leaving = placeholder(metadata={"deletionTimestamp": ago(1), "finalizers": ["x"]}, **CHANGED)

    assert len(rooms(world(leaving)).sweep(NONE_KNOWN).notes) == 1
