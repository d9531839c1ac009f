"""Which pods may use a Reservation, what it reserves for them, and when it ends (koordinator.md 3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.koordinator.reservation import (
    ObjectReference,
    Reservation,
    ReservationCondition,
    ReservationOwner,
    is_reserve_pod,
)
from descheduler.model.pod import Owner
from descheduler.model.selection.labels import parse_selector
from tests.builders import NOW, make_pod

POD = make_pod("web-1", namespace="shop", uid="u1", labels={"app": "web"}, owners=("ReplicaSet/web",))
"""Its only owner is a controller, ReplicaSet `web` with the UID `replicaset-web`."""
PATRON = Owner("Patron", "p", "patron", "example.com/v1")
WEB = Owner("ReplicaSet", "web", "replicaset-web", "apps/v1", controller=True)


def reservation(**facts: Any) -> Reservation:
    return Reservation(**{"name": "r", "uid": "r", "labels": {}, "annotations": {}, "pod": None, **facts})


@pytest.mark.parametrize(
    ("reference", "matches"),
    [
        pytest.param(ObjectReference(), True, id="nothing is stated"),
        pytest.param(ObjectReference("shop", "web-1", "u1"), True, id="all of it agrees"),
        pytest.param(ObjectReference(namespace="other"), False, id="another namespace"),
        pytest.param(ObjectReference(name="web-2"), False, id="another name"),
        pytest.param(ObjectReference(uid="u2"), False, id="another pod of that name"),
        pytest.param(ObjectReference(api_version="v1"), False, id="the scheduler knows no apiVersion of pods"),
    ],
)
def test_object_of_an_owner_is_the_pod_with_all_that_is_stated(reference: ObjectReference, matches: bool) -> None:
    assert reference.matches(POD) is matches
    assert ReservationOwner(object=reference).matches(POD) is matches


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        pytest.param(WEB, True, id="the controller of the pod"),
        pytest.param(Owner("", "", ""), True, id="nothing is stated"),
        pytest.param(replace(WEB, controller=False), True, id="it need not be stated as one"),
        pytest.param(replace(WEB, uid="other"), False, id="another UID"),
        pytest.param(replace(WEB, name="other"), False, id="another name"),
        pytest.param(replace(WEB, kind="Other"), False, id="another kind"),
        pytest.param(replace(WEB, api_version="apps/v2"), False, id="another version of the API"),
        pytest.param(PATRON, True, id="an owner that is no controller"),
        pytest.param(replace(PATRON, controller=True), False, id="an owner that is no controller, wanted as one"),
    ],
)
def test_controller_of_an_owner_is_any_owner_of_the_pod_that_agrees(wanted: Owner, matches: bool) -> None:
    pod = replace(POD, owners=(*POD.owners, PATRON))

    assert ReservationOwner(controller=wanted).matches(pod) is matches


@pytest.mark.parametrize(("namespace", "matches"), [("", True), ("shop", True), ("other", False)])
def test_controller_of_an_owner_may_be_of_one_namespace(namespace: str, matches: bool) -> None:
    assert ReservationOwner(controller=WEB, controller_namespace=namespace).matches(POD) is matches


@pytest.mark.parametrize(
    ("owner", "matches"),
    [
        pytest.param(ReservationOwner(), True, id="nothing"),
        pytest.param(ReservationOwner(selector=parse_selector("app=web")), True, id="labels"),
        pytest.param(ReservationOwner(selector=parse_selector("app=db")), False, id="other labels"),
        pytest.param(
            ReservationOwner(ObjectReference(name="web-1"), selector=parse_selector("app=db")), False, id="one of two"
        ),
        pytest.param(
            ReservationOwner(controller=replace(WEB, name="x"), selector=parse_selector("app=web")),
            False,
            id="labels, and another controller",
        ),
    ],
)
def test_all_that_an_owner_states_is_required_together(owner: ReservationOwner, matches: bool) -> None:
    assert owner.matches(POD) is matches


@pytest.mark.parametrize(
    ("owner", "is_for_one"),
    [
        pytest.param(ReservationOwner(ObjectReference(name="web-1")), True, id="a pod by name"),
        pytest.param(ReservationOwner(ObjectReference(), controller=WEB), False, id="a pod and its controller"),
        pytest.param(ReservationOwner(ObjectReference(), selector=parse_selector("")), False, id="a pod and labels"),
        pytest.param(ReservationOwner(selector=parse_selector("app=web")), False, id="labels"),
        pytest.param(ReservationOwner(controller=WEB), False, id="a controller"),
    ],
)
def test_reservation_is_for_one_pod_where_an_owner_states_nothing_else(
    owner: ReservationOwner, is_for_one: bool
) -> None:
    others = ReservationOwner(controller=PATRON)

    assert reservation(owners=(others, owner)).is_for_one_pod is is_for_one


@pytest.mark.parametrize(
    ("node", "phase", "is_pending"),
    [("", "", True), ("", "Pending", True), ("", "Failed", False), ("a", "", False), ("a", "Pending", False)],
)
def test_reserve_pod_waits_for_a_node_until_the_reservation_has_one(node: str, phase: str, is_pending: bool) -> None:
    assert reservation(node_name=node, phase=phase).is_pending is is_pending


REQUESTED, NOTED = {"cpu": 10**9, "memory": 10**9}, {"cpu": 2 * 10**9}


@pytest.mark.parametrize(
    ("facts", "amounts"),
    [
        pytest.param({"phase": "Available", "node_name": "a", "allocatable": NOTED}, NOTED, id="what is noted"),
        pytest.param({"phase": "Available", "node_name": "a"}, REQUESTED, id="nothing is noted yet"),
        pytest.param({"phase": "Pending", "allocatable": NOTED}, REQUESTED, id="it holds nothing yet"),
        pytest.param({"pod": None}, {}, id="nothing is noted and there is no template"),
    ],
)
def test_reservation_reserves(facts: dict[str, Any], amounts: dict[str, int]) -> None:
    pod = make_pod("r", cpu="1", memory="1")

    assert dict(reservation(**{"pod": pod, **facts}).amounts) == amounts


@pytest.mark.parametrize(
    ("policy", "restricted_to", "limited"),
    [
        pytest.param("Restricted", ("cpu", "gpu"), {"cpu"}, id="those of its options that it reserves"),
        pytest.param("Restricted", ("gpu",), {"cpu", "memory"}, id="all, where it reserves none of its options"),
        pytest.param("Restricted", (), {"cpu", "memory"}, id="all without options"),
        pytest.param("Aligned", ("cpu",), {"cpu", "memory"}, id="all with another policy"),
    ],
)
def test_resources_that_are_counted_for_each_owner(
    policy: str, restricted_to: tuple[str, ...], limited: set[str]
) -> None:
    found = reservation(pod=make_pod("r", cpu="1", memory="1"), allocate_policy=policy, restricted_to=restricted_to)

    assert found.limited_resources == limited


@pytest.mark.parametrize(
    ("facts", "ends_after"),
    [
        pytest.param({"ttl": timedelta(hours=2)}, 3600, id="its ttl counts from when it was made"),
        pytest.param({"expires_at": NOW + timedelta(hours=3)}, 3 * 3600, id="a time"),
        pytest.param(
            {"ttl": timedelta(hours=2), "expires_at": NOW + timedelta(hours=3)}, 3600, id="the earlier of both"
        ),
        pytest.param({"ttl": timedelta(hours=2), "created_at": None}, None, id="it is not known since when"),
        pytest.param({"ttl": timedelta(0), "expires_at": NOW}, None, id="a ttl of 0 is for ever"),
        pytest.param({"ttl": timedelta(hours=2), "node_name": ""}, None, id="it has no node"),
        pytest.param({}, None, id="nothing is said"),
    ],
)
def test_when_a_reservation_ends(facts: dict[str, Any], ends_after: int | None) -> None:
    found = reservation(**{"node_name": "a", "created_at": NOW - timedelta(hours=1), **facts})

    assert found.ends_at == (None if ends_after is None else NOW + timedelta(seconds=ends_after))


def test_reservation_has_expired_after_its_end_and_not_at_it() -> None:
    found = reservation(node_name="a", expires_at=NOW)

    assert [found.has_expired(NOW + timedelta(seconds=each)) for each in (-1, 0, 1)] == [False, False, True]
    assert not reservation(node_name="a").has_expired(NOW)


def test_condition_is_found_by_its_type() -> None:
    ready = ReservationCondition("Ready", is_true=True)

    assert reservation(conditions=(ready,)).condition("Ready") is ready
    assert reservation(conditions=(ready,)).condition("Scheduled") is None


@pytest.mark.parametrize(("annotation", "is_one"), [("true", True), ("false", False)])
def test_reserve_pod_is_known_by_its_annotation(annotation: str, is_one: bool) -> None:
    annotations = {"scheduling.koordinator.sh/reserve-pod": annotation}

    assert is_reserve_pod(replace(POD, annotations=annotations)) is is_one
    assert not is_reserve_pod(POD)
