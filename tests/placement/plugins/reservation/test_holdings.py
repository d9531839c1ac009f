"""Reservations on the nodes of a cluster: which hold room, what owners took of it, and devices."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from descheduler.cluster.decoding.koordinator.devices import decode_allocated
from descheduler.model.koordinator.devices import AllocatedDevices
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.reservation.held_devices import HeldDevices, devices_of
from descheduler.placement.plugins.reservation.holdings import HeldReservation, Holdings
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION
from tests.builders import NOW, Object
from tests.placement.plugins.reservation.worlds import World, koord_pod, nodes, reservation_object, snapshot_of

ALLOCATED = "scheduling.koordinator.sh/device-allocated"


def holdings(*objects: Object) -> Holdings:
    """What there is of Reservations on the nodes a and b, now."""
    snapshot = replace(snapshot_of(*nodes(a="8", b="8"), *objects), taken_at=NOW)
    return shadow_cluster_of(snapshot, PLUGINS, KOORD_KUBE_VERSION).follow(Holdings)


def the_one(*objects: Object) -> HeldReservation:
    """The only Reservation."""
    (held,) = holdings(*objects).held
    return held


def expiring(seconds: float, **facts: Any) -> Object:
    """A Reservation that ends in so many seconds."""
    ends = (NOW + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return reservation_object("r", node="a", ttl=None, expires=ends, **facts)


@pytest.mark.parametrize(
    ("made", "node", "is_active", "is_available"),
    [
        pytest.param(reservation_object("r", node="b"), 1, True, True, id="available"),
        pytest.param(reservation_object("r", node="b", phase="Waiting"), 1, True, False, id="waiting for its room"),
        pytest.param(reservation_object("r"), -1, False, False, id="pending"),
        pytest.param(reservation_object("r", node="gone"), -1, False, False, id="on a node that is not there"),
        pytest.param(expiring(1), 0, True, True, id="not over"),
        pytest.param(expiring(0), 0, True, True, id="over at this very moment"),
        pytest.param(expiring(-1), -1, False, False, id="over"),
    ],
)
def test_reservation_holds_room_on_its_node_until_it_ends(
    made: Object, node: int, is_active: bool, is_available: bool
) -> None:
    held = the_one(made)

    assert (held.node, held.is_active, held.is_available) == (node, is_active, is_available)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_reservation_that_is_over_is_none(phase: str) -> None:
    assert holdings(reservation_object("r", node="a", phase=phase)).held == ()


def test_waiting_reservations_are_found_by_name() -> None:
    found = holdings(reservation_object("r"), reservation_object("s", node="a"))

    assert found.waiting("r") is found.held[0]
    assert (found.waiting("s"), found.waiting("t"), found.is_one_waiting) == (None, None, True)
    assert not holdings(reservation_object("s", node="a")).is_one_waiting


@pytest.mark.parametrize(
    ("owner", "num_owners", "left"),
    [
        pytest.param(koord_pod("x", node="a", cpu="1", uses="r"), 1, 3000, id="an owner"),
        pytest.param(koord_pod("x", node="b", cpu="1", uses="r"), 0, 4000, id="on another node"),
        pytest.param(koord_pod("x", node="gone", cpu="1", uses="r"), 0, 4000, id="on no node"),
        pytest.param(koord_pod("x", cpu="1", uses="r"), 0, 4000, id="not bound"),
        pytest.param(koord_pod("x", node="a", cpu="1", uses="s"), 0, 4000, id="of another one"),
        pytest.param(koord_pod("x", node="a", cpu="1"), 0, 4000, id="of none"),
        pytest.param(koord_pod("x", node="a", cpu="6", uses="r"), 1, -2000, id="with more than is reserved"),
    ],
)
def test_owners_are_pods_on_its_node_that_name_it(owner: Object, num_owners: int, left: int) -> None:
    held = the_one(reservation_object("r", node="a", cpu="4", allocateOnce=False), owner)

    (gap,) = held.gaps()

    assert (held.num_owners, gap[1], held.gap(gap[0]), held.allocated(gap[0])) == (num_owners, left, left, 4000 - left)


def test_nothing_is_left_of_what_owners_have_all_of() -> None:
    held = the_one(
        reservation_object("r", node="a", cpu="4", allocateOnce=False), koord_pod("x", node="a", cpu="4", uses="r")
    )

    assert (held.gaps(), held.is_active) == ((), True)


@pytest.mark.parametrize(
    ("once", "phase", "is_spent"),
    [
        pytest.param(True, "Available", True, id="for one pod"),
        pytest.param(True, "Waiting", False, id="waiting for the room of its owners"),
        pytest.param(False, "Available", False, id="for several pods"),
    ],
)
def test_reservation_for_one_pod_is_spent_by_its_first_owner(once: bool, phase: str, is_spent: bool) -> None:
    held = the_one(
        reservation_object("r", node="a", allocateOnce=once, phase=phase), koord_pod("x", node="a", cpu="1", uses="r")
    )

    assert (held.is_spent, held.is_active) == (is_spent, not is_spent)


def test_reservations_that_are_alike_have_one_kind() -> None:
    def kinds(**facts: Any) -> int:
        made = [reservation_object(name, node="a", cpu="4", allocateOnce=False) for name in ("r", "s")]
        made.append(reservation_object("t", node="a", **{"cpu": "4", "allocateOnce": False, **facts}))
        return len({held.kind for held in holdings(*made).held})

    assert kinds() == 1
    assert kinds(cpu="5") == 2
    assert kinds(allocatePolicy="Restricted") == 2
    assert kinds(labels={"scheduling.koordinator.sh/reservation-order": "1"}) == 2
    assert kinds(reserved={"cpu": "4", "pods": "3"}) == 2


def test_number_of_owners_tells_reservations_with_places_apart() -> None:
    made = [
        reservation_object(name, node="a", reserved={"cpu": "4", "pods": "3"}, allocateOnce=False)
        for name in ("r", "s")
    ]

    assert len({held.kind for held in holdings(*made).held}) == 1
    assert len({held.kind for held in holdings(*made, koord_pod("x", node="a", uses="r")).held}) == 2


def test_stand_in_asks_for_what_is_left_on_the_node_of_the_reservation() -> None:
    held = the_one(
        reservation_object("r", node="a", cpu="4", memory="1Gi", allocateOnce=False),
        koord_pod("x", node="a", cpu="1", memory="1Gi", uses="r"),
    )

    seen = held.stand_in()

    assert seen.node_name == "a"
    assert dict(seen.spec.requests) == {"cpu": 3 * 10**9}
    assert [dict(each.requests) for each in seen.spec.containers] == [{"cpu": 3 * 10**9, "memory": 0}]


def devices(**percents: int) -> AllocatedDevices:
    """So much of GPUs, by minor, with a virtual function each."""
    entries = [
        {
            "minor": int(minor[1:]),
            "resources": {"x": str(percent)},
            "extension": {"vfs": [{"busID": f"f-{minor}", "minor": 0}]},
        }
        for minor, percent in percents.items()
    ]
    return decode_allocated(json.dumps({"gpu": entries}))


def test_devices_that_owners_have_are_taken_off_minor_by_minor() -> None:
    held = HeldDevices(devices(m0=100, m1=50))
    first, second = devices(m0=30), devices(m0=30, m1=60, m2=10)
    seen = [held.remaining()]

    for owned, by in ((first, 1), (second, 1), (first, -1), (second, -1)):
        held.change(owned, by)
        seen.append(held.remaining())

    whole = {"gpu": {0: {"x": 100}, 1: {"x": 50}}}
    assert seen == [
        whole,
        {"gpu": {0: {"x": 70}, 1: {"x": 50}}},
        {"gpu": {0: {"x": 40}, 1: {"x": 0}}},
        {"gpu": {0: {"x": 70}, 1: {"x": 0}}},
        whole,
    ]


def test_equal_devices_of_two_owners_are_given_back_one_by_one() -> None:
    held = HeldDevices(devices(m0=100))
    first, second = devices(m0=30), devices(m0=30)
    held.change(first, 1)
    held.change(second, 1)

    held.change(first, -1)

    assert held.remaining() == {"gpu": {0: {"x": 70}}}


def test_functions_go_with_devices_that_no_owner_has() -> None:
    held = HeldDevices(devices(m0=100, m1=100))

    held.change(devices(m0=10), 1)

    left = decode_allocated(held.annotation())["gpu"]
    assert [(each.minor, dict(each.resources), len(each.functions)) for each in left] == [
        (0, {"x": 90}, 0),
        (1, {"x": 100}, 1),
    ]


@pytest.mark.parametrize(
    ("text", "has_any"),
    [
        pytest.param('{"gpu": [{"minor": 0, "resources": {"x": "1"}}]}', True, id="devices"),
        pytest.param("", False, id="no annotation"),
        pytest.param("[", False, id="what cannot be read"),
    ],
)
def test_annotation_says_which_devices_are_held(text: str, has_any: bool) -> None:
    assert bool(HeldDevices(devices_of({ALLOCATED: text}))) is has_any


def test_template_that_was_copied_with_devices_holds_none_before_it_is_bound() -> None:
    noted = {ALLOCATED: '{"gpu": [{"minor": 0, "resources": {"x": "1"}}]}'}

    assert not the_one(reservation_object("r", annotations=noted)).devices
    assert the_one(reservation_object("r", node="a", annotations=noted)).devices


@pytest.mark.parametrize(
    ("named", "fitting"),
    [
        pytest.param("", ["a", "b"], id="no node"),
        pytest.param("b", ["b"], id="a node"),
        pytest.param("gone", [], id="a node that is not there"),
    ],
)
def test_reserve_pod_goes_to_the_node_that_its_template_names(named: str, fitting: list[str]) -> None:
    template: Object = {"spec": {"nodeName": named}} if named else {}
    world = World([*nodes(a="8", b="8"), reservation_object("r", template=template)])
    (reservation,) = world.snapshot.reservations
    assert reservation.pod is not None

    found = world.evaluate(reservation.pod)

    assert [world.cluster.table.names[node] for node in found.nodes.tolist()] == fitting
    if named:
        reasons = {reason for each in found.obstacles_on(0) for reason in each.reasons}
        assert "node(s) didn't match the nodeName specified by reservation" in reasons


@pytest.mark.parametrize(
    ("there", "comes", "fitting"),
    [
        pytest.param("", "", ["a", "b"], id="no policy"),
        pytest.param("Aligned", "", ["b"], id="a policy there alone"),
        pytest.param("", "Aligned", ["b"], id="a policy of the new one alone"),
        pytest.param("Aligned", "Restricted", ["a", "b"], id="two policies"),
    ],
)
def test_reservations_with_a_policy_and_without_one_exclude_each_other(
    there: str, comes: str, fitting: list[str]
) -> None:
    made = [
        reservation_object("old", node="a", cpu="1", allocatePolicy=there),
        reservation_object("new", cpu="1", allocatePolicy=comes),
    ]
    world = World([*nodes(a="8", b="8"), *made])
    new = next(each.pod for each in world.snapshot.reservations if each.name == "new")
    assert new is not None

    assert [world.cluster.table.names[node] for node in world.evaluate(new).nodes.tolist()] == fitting
