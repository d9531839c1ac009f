"""`explain reservation`: what it holds, who may use it, who does, which pods wait for it, and what refuses them."""

from __future__ import annotations

import pytest

from descheduler.cluster.decoding.koordinator.reservations import decode_owners
from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.subjects.reservation import ReservationExplanation, owner_text
from tests.explanation.subjects.tables import explained, table
from tests.placement.plugins.device_share.worlds import ALLOCATED, CORE, RATIO, device_object, gpu
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, reservation_object


def test_table_names_amounts_owners_users_and_pods_that_wait() -> None:
    objects = [
        *nodes(a="8", b="2"),
        reservation_object("room", node="a", cpu="4", allocateOnce=False),
        koord_pod("web-0", uses="room", node="a", cpu="1"),
        koord_pod("web-1", cpu="5"),
        koord_pod("other", app="db"),
    ]

    assert table("reservation", "room", *objects) == (
        "Reservation room\n"
        "PHASE       NODE   SCHEDULER         ALLOCATE ONCE   POLICY    EXPIRES   TAINTS\n"
        "Available   a      koord-scheduler   false           default   never     none\n"
        "\n"
        "For:   pods with app in (web) (2 pods)\n"
        "\n"
        "RESOURCE   RESERVED   USED   FREE FOR OWNERS\n"
        "cpu        4          1      3\n"
        "\n"
        "NAMESPACE   POD THAT USES IT   NODE   BY               REQUESTS\n"
        "default     web-0              a      its annotation   cpu 1\n"
        "\n"
        "NAMESPACE   PENDING POD   REASON\n"
        "default     web-1         can use the Reservation; 1/2 nodes are available\n"
        "\n"
        "the configuration of koord-scheduler does not enable Reservation under reserve: pods get its room, and it is"
        " never marked as used\n"
    )


def test_pending_reservation_says_as_a_pod_why_it_is_pending() -> None:
    objects = [*nodes(a="2"), reservation_object("room", cpu="4")]

    reservation = explained(ReservationExplanation, "reservation", "room", *objects)
    assert reservation.placement is not None
    assert reservation.placement.summary == "0/1 nodes are available: 1 Insufficient cpu"
    assert [(each.reserved, each.free) for each in reservation.resources] == [(4000, None)]


def test_devices_that_it_holds_are_shown_with_what_is_left_of_them() -> None:
    held = {ALLOCATED: f'{{"gpu":[{{"minor":1,"resources":{{"{CORE}":"100","{RATIO}":"100"}}}}]}}'}
    used = {ALLOCATED: f'{{"gpu":[{{"minor":1,"resources":{{"{CORE}":"40","{RATIO}":"40"}}}}]}}'}
    objects = [
        *nodes(a="8"),
        device_object("a", gpu(0), gpu(1)),
        reservation_object("room", node="a", annotations=held, allocateOnce=False),
        koord_pod("web-0", uses="room", node="a", annotations=used),
    ]

    reservation = explained(ReservationExplanation, "reservation", "room", *objects)
    (device,) = reservation.devices
    assert (device.type, device.minor, device.free) == ("gpu", 1, {CORE: 60, RATIO: 60})


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        pytest.param({"node": "gone"}, "its node gone does not exist, so that it holds nothing", id="no node"),
        pytest.param(
            {"node": "a", "phase": "Succeeded"}, "it has ended (Succeeded) and holds nothing any more", id="ended"
        ),
        pytest.param(
            {"node": "a", "phase": "Odd"}, "koord-scheduler does not know its phase Odd: it holds nothing", id="phase"
        ),
        pytest.param(
            {"node": "a", "unschedulable": True},
            "it is unschedulable: only pods that name it in reservation-affinity use it",
            id="unschedulable",
        ),
        pytest.param(
            {"node": "a", "expires": "2020-01-01T00:00:00Z", "ttl": "1h"},
            "it has expired and holds nothing any more",
            id="expired",
        ),
        pytest.param(
            {"node": "a", "template": None},
            "it has no spec.template, so that koord-scheduler ignores it",
            id="no template",
        ),
    ],
)
def test_note_says_what_is_odd(facts: dict[str, object], note: str) -> None:
    template = facts.pop("template", {})
    found = reservation_object("room", **facts)  # type: ignore[arg-type]  # of a table
    if template is None:
        del found["spec"]["template"]

    reservation = explained(ReservationExplanation, "reservation", "room", *nodes(a="8"), found)
    assert note in reservation.notes
    assert [each.free for each in reservation.resources] == [4000 if "unschedulable" in facts else None] * len(
        reservation.resources
    )


def test_reservation_that_one_pod_uses_up_says_so() -> None:
    objects = [*nodes(a="8"), reservation_object("room", node="a"), koord_pod("web-0", uses="room", node="a", cpu="1")]

    reservation = explained(ReservationExplanation, "reservation", "room", *objects)
    assert "a pod uses it up (allocateOnce): what that pod leaves of it is free for all pods" in reservation.notes


def test_pod_of_a_scheduler_without_reservations_is_told_so() -> None:
    objects = [*nodes(a="8"), reservation_object("room", node="a"), koord_pod("web-0", cpu="9")]
    objects[-1]["spec"]["schedulerName"] = "default-scheduler"

    reservation = explained(ReservationExplanation, "reservation", "room", *objects)
    assert [each.message for each in reservation.waiting] == [
        "scheduler default-scheduler does not know Reservations; 0/1 nodes are available: 1 Insufficient cpu"
    ]


@pytest.mark.parametrize(("number", "end"), [(12, "pod web-9; or 2 more (0 pods)"), (10, "pod web-9 (0 pods)")])
def test_many_owners_are_named_with_a_limit(number: int, end: str) -> None:
    owners = [{"object": {"name": f"web-{index}"}} for index in range(number)]

    shown = table("reservation", "room", *nodes(a="8"), reservation_object("room", node="a", owners=owners))

    assert end in shown


def test_owner_that_does_not_exist_any_more_is_shown() -> None:
    found = reservation_object("room", node="a")
    found["status"]["currentOwners"] = [{"namespace": "default", "name": "gone", "uid": "x"}]

    assert "default     gone               does not exist   status.currentOwners alone" in table(
        "reservation", "room", *nodes(a="8"), found
    )


@pytest.mark.parametrize(
    ("owner", "text"),
    [
        ('{"labelSelector": {"matchLabels": {"app": "web"}}}', "pods with app in (web)"),
        ('{"labelSelector": {}}', "all pods"),
        ("{}", "all pods"),
        ('{"object": {"namespace": "shop", "name": "web-0"}}', "pod shop/web-0"),
        ('{"object": {"namespace": "shop"}}', "pods of namespace shop"),
        ('{"object": {"uid": "u"}}', "pod with uid u"),
        ('{"object": {"name": "a", "apiVersion": "v1"}}', "no pod (object.apiVersion v1 matches none)"),
        (
            '{"controller": {"kind": "ReplicaSet", "namespace": "shop", "name": "web", "controller": true}}',
            "pods controlled by ReplicaSet shop/web",
        ),
        (
            '{"object": {"name": "a"}, "labelSelector": {"matchExpressions": [{"key": "b", "operator": "Exists"}]}}',
            "pod a, and pods with the label b",
        ),
    ],
)
def test_owner_is_told_in_words(owner: str, text: str) -> None:
    owners, _ = decode_owners(f"[{owner}]")

    assert owner_text(owners[0]) == text


def test_reservation_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        explained(ReservationExplanation, "reservation", "rom", *nodes(a="8"), reservation_object("room", node="a"))

    assert str(unknown.value) == "no Reservation 'rom' in objects; did you mean 'room'?"


@pytest.mark.parametrize(
    ("owner", "text"),
    [
        ('{"object": {"namespace": "shop", "name": "a", "uid": "u"}}', "pod shop/a with uid u"),
        ('{"object": {"namespace": "shop", "uid": "u"}}', "pods of namespace shop with uid u"),
        ('{"object": {"kind": "Pod"}}', "all pods"),
        ('{"controller": {"kind": "ReplicaSet", "name": "web"}}', "pods of ReplicaSet web"),
        ('{"controller": {"name": "web", "uid": "u"}}', "pods of owner web with uid u"),
        (
            '{"labelSelector": {"matchLabels": {"a": "1", "b": "2"}}}',
            "pods with a in (1) and b in (2)",
        ),
        (
            '{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}',
            "no pod (the labelSelector cannot be read)",
        ),
    ],
)
def test_each_part_of_an_owner_is_told(owner: str, text: str) -> None:
    owners, _ = decode_owners(f"[{owner}]")

    assert owner_text(owners[0]) == text
