"""Whether a pod fits with a Reservation on a node, and through which one, at the bounds of what there is."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.plugins.reservation.fit import OperatingPods, score
from tests.builders import Object
from tests.placement.plugins.reservation.worlds import ONE_NODE, World, koord_pod, nodes, reservation_object

AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
ORDER = "scheduling.koordinator.sh/reservation-order"
BY_NODE, TOO_FEW = "Insufficient {} by node", "Reservation(s) Insufficient {}"


def against(pod: Object, *held: Object) -> tuple[str, ...]:
    """What Reservations on node a have against a pod."""
    world = World([*ONE_NODE, *held, pod])
    evaluation = world.evaluate(pod["metadata"]["name"])
    found = () if evaluation.feasible[0] else evaluation.obstacles_on(0)
    return tuple(reason for each in found if each.plugin == "Reservation" for reason in each.reasons)


def needing(name: str = "p", **facts: Any) -> Object:
    """A pod that goes nowhere without a Reservation."""
    return koord_pod(name, annotations={AFFINITY: "{}"}, **facts)


def restricted(name: str = "r", **facts: Any) -> Object:
    """A Reservation on node a that grants no more than it holds, to several pods."""
    return reservation_object(name, node="a", **{"allocatePolicy": "Restricted", "allocateOnce": False, **facts})


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param("8", (), id="all that is left and all beside"),
        pytest.param("8001m", (BY_NODE.format("cpu"),), id="a little more"),
    ],
)
@pytest.mark.parametrize("pod", [koord_pod, needing], ids=["may use it", "needs it"])
def test_pod_may_have_what_is_left_and_what_nobody_holds(pod: Any, cpu: str, expected: tuple[str, ...]) -> None:
    held = reservation_object("r", node="a", cpu="4")

    assert against(pod("p", cpu=cpu), held) == expected


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param("4", (), id="all that is left"),
        pytest.param("4001m", (TOO_FEW.format("cpu"),), id="a little more"),
    ],
)
def test_restricted_reservation_grants_exactly_what_is_left(cpu: str, expected: tuple[str, ...]) -> None:
    running = koord_pod("x", node="a", cpu="2", uses="r")

    assert against(needing(cpu=cpu), restricted(cpu="6"), running) == expected


def test_shortages_of_the_node_are_told_before_those_of_reservations() -> None:
    held = restricted(cpu="1", memory="1Gi")

    assert against(needing(cpu="9", memory="2Gi"), held) == (
        BY_NODE.format("cpu"),
        TOO_FEW.format("cpu"),
        TOO_FEW.format("memory"),
    )


def test_pod_that_needs_none_is_told_what_the_node_lacks_beside_them() -> None:
    assert against(koord_pod("p", cpu="5"), restricted(cpu="4")) == (BY_NODE.format("cpu"),)
    assert against(koord_pod("p", cpu="4"), restricted(cpu="4", memory="1Gi")) == ()


@pytest.mark.parametrize(
    ("places", "expected"),
    [pytest.param("2", (), id="a place is left"), pytest.param("1", ("Reservation(s) Too many pods",), id="no place")],
)
def test_restricted_reservation_takes_as_many_pods_as_it_has_places_for(places: str, expected: tuple[str, ...]) -> None:
    held = restricted(reserved={"cpu": "4", "pods": places})
    running = koord_pod("x", node="a", cpu="1", uses="r")

    assert against(needing(cpu="1"), held, running) == expected


def test_other_policies_take_any_number_of_pods() -> None:
    held = reservation_object("r", node="a", reserved={"cpu": "4", "pods": "1"}, allocateOnce=False)

    assert against(needing(cpu="1"), held, koord_pod("x", node="a", cpu="1", uses="r")) == ()


def test_reservation_of_nothing_that_is_asked_for_is_of_no_use_unless_it_is_needed() -> None:
    memory = reservation_object("r", node="a", reserved={"memory": "1Gi"})
    world = World([*ONE_NODE, memory, koord_pod("p", cpu="1"), needing("q", cpu="1")])

    assert world.place("p") == ("a", "")
    assert world.place("q") == ("a", "r")


@pytest.mark.parametrize(("cpu", "is_overcommitted"), [("5", False), ("4999m", True)])
def test_node_is_overcommitted_where_its_pods_request_more_than_it_has(cpu: str, is_overcommitted: bool) -> None:
    held = reservation_object("r", node="a", cpu="1", allocateOnce=False)
    running = koord_pod("running", node="a", cpu="4", uses="r")
    world = World([*nodes(a=cpu), held, running, koord_pod("x", app="x", cpu="1")])

    assert bool(world.placed("x").conditions) is is_overcommitted


@pytest.mark.parametrize(
    ("orders", "used"),
    [
        pytest.param({"r": "2", "s": "1"}, "s", id="the lowest order"),
        pytest.param({"r": "7"}, "r", id="an order before none"),
        pytest.param({"r": "0", "s": "1"}, "s", id="0 is none"),
        pytest.param({"r": "x", "s": "1"}, "s", id="what is no number is none"),
        pytest.param({"r": "-1", "s": "1"}, "r", id="below 0"),
        pytest.param({}, "s", id="by how full they are"),
    ],
)
def test_order_decides_which_reservation_is_used(orders: dict[str, str], used: str) -> None:
    held = [
        reservation_object(name, node="a", cpu=cpu, labels={ORDER: orders[name]} if name in orders else {})
        for name, cpu in (("r", "4"), ("s", "2"))
    ]

    assert World([*ONE_NODE, *held, koord_pod("p", cpu="1")]).place("p") == ("a", used)


@pytest.mark.parametrize(
    ("reserved", "running", "asked", "expected"),
    [
        pytest.param({"cpu": "4"}, None, {"cpu": "1"}, 25, id="a quarter"),
        pytest.param({"cpu": "4"}, "2", {"cpu": "1"}, 75, id="beside an owner"),
        pytest.param({"cpu": "4"}, None, {"cpu": "4"}, 100, id="all of it"),
        pytest.param({"cpu": "4"}, None, {"cpu": "5"}, 0, id="more than it has"),
        pytest.param({"cpu": "4", "memory": "4Gi"}, None, {"cpu": "4", "memory": "1Gi"}, 62, id="the mean, cut"),
        pytest.param({"cpu": "4", "memory": "4Gi"}, None, {"cpu": "4"}, 50, id="nothing of one resource"),
        pytest.param({}, None, {"cpu": "4"}, 0, id="nothing reserved"),
    ],
)
def test_reservation_is_scored_by_how_full_it_is_with_the_pod(
    reserved: dict[str, str], running: str | None, asked: dict[str, str], expected: int
) -> None:
    held = reservation_object("r", node="a", reserved=reserved or {"pods": "1"}, allocateOnce=False)
    owner = [] if running is None else [koord_pod("x", node="a", cpu=running, uses="r")]
    world = World([*ONE_NODE, held, *owner, koord_pod("p", requests=asked)])

    amounts = world.evaluate("p").cycle.pod.demand.amounts

    assert score(amounts, world.held["r"]) == expected


MODE = {"scheduling.koordinator.sh/operating-mode": "Reservation"}
OWNERS = {"scheduling.koordinator.sh/reservation-owners": '[{"labelSelector": {"matchLabels": {"app": "web"}}}]'}


@pytest.mark.parametrize(
    ("pod", "concerns"),
    [
        pytest.param(koord_pod("o", node="a", app="o", labels=MODE, annotations=OWNERS), True, id="its owner"),
        pytest.param(koord_pod("o", node="gone", app="o", labels=MODE, annotations=OWNERS), False, id="on no node"),
        pytest.param(koord_pod("o", node="a", app="o", annotations=OWNERS), False, id="an ordinary pod"),
        pytest.param(koord_pod("o", node="a", app="o", labels=MODE), False, id="without owners"),
    ],
)
def test_pods_that_act_as_reservations_concern_their_owners(pod: Object, concerns: bool) -> None:
    world = World([*nodes(a="8"), pod, koord_pod("p"), koord_pod("x", app="x")])

    found = OperatingPods(world.cluster)

    assert (found.concern(world.pods["p"]), found.concern(world.pods["x"])) == (concerns, False)
    assert found.concern(world.pods["o"]) is (pod["metadata"]["labels"].keys() >= MODE.keys())
