"""Reservations that pods ask for, by the annotations reservation-affinity and exact-match-reservation."""

from __future__ import annotations

import json

import pytest

from descheduler.placement.framework.obstacle import Code
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.reservation.row import explain_reservations
from tests.conformance.koordinator.reservation import diagnosis
from tests.placement.plugins.reservation.worlds import ONE_NODE, World, koord_pod, nodes, reservation_object

AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
EXACT = "scheduling.koordinator.sh/exact-match-reservation"


def affinity(**asked: object) -> dict[str, str]:
    """The annotation with which a pod asks for a Reservation."""
    return {AFFINITY: json.dumps(asked)}


def required(key: str, *values: str) -> object:
    """Required terms of one condition."""
    return {"reservationSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]}


def test_pod_that_needs_a_reservation_is_refused_what_a_restricted_one_lacks() -> None:
    asks = affinity(name="r")
    held = reservation_object("r", node="a", cpu="2", allocatePolicy="Restricted")
    world = World([*ONE_NODE, held, koord_pod("p", cpu="3", annotations=asks)])

    assert world.reasons("p") == {"a": ("Reservation(s) Insufficient cpu",)}


@pytest.mark.parametrize(
    ("facts", "asks", "uses"),
    [
        pytest.param({}, affinity(reservationSelector={"team": "red"}), "r", id="labels"),
        pytest.param({}, affinity(reservationSelector={"team": "blue"}), None, id="other labels"),
        pytest.param(
            {},
            affinity(requiredDuringSchedulingIgnoredDuringExecution=required("zone", "z1")),
            "r",
            id="the node's labels",
        ),
        pytest.param(
            {},
            affinity(requiredDuringSchedulingIgnoredDuringExecution={"reservationSelectorTerms": [{}]}),
            None,
            id="an empty term",
        ),
        pytest.param({}, affinity(), "r", id="any will do"),
        pytest.param({"unschedulable": True}, affinity(), None, id="unschedulable"),
        pytest.param({"unschedulable": True}, affinity(name="r"), "r", id="unschedulable, and named"),
        pytest.param({}, affinity(name="s"), None, id="another name"),
        pytest.param({"taints": [{"key": "k", "effect": "NoSchedule"}]}, affinity(), None, id="tainted"),
        pytest.param(
            {"taints": [{"key": "k", "effect": "NoSchedule"}]},
            affinity(tolerations=[{"operator": "Exists"}]),
            "r",
            id="tolerated",
        ),
        pytest.param(
            {"taints": [{"key": "k", "effect": "NoSchedule"}]}, affinity(name="r"), "r", id="tainted, and named"
        ),
        pytest.param({"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}, affinity(), "r", id="a soft taint"),
        pytest.param(
            {"taints": [{"key": "k", "effect": "NoSchedule"}]},
            {},
            "r",
            id="taints keep away nobody who asks for nothing",
        ),
        pytest.param({"unschedulable": True}, {}, "", id="unschedulable, and none needed"),
        pytest.param({}, {EXACT: '{"resourceNames":["cpu"]}'}, "", id="another amount"),
        pytest.param({}, {EXACT: '{"resourceNames":["memory"]}'}, "r", id="an amount that neither states"),
        pytest.param(
            {}, affinity(name="r") | {EXACT: '{"resourceNames":["cpu"]}'}, None, id="another amount, and named"
        ),
        pytest.param({"phase": "Waiting"}, affinity(), None, id="still waiting for its room"),
    ],
)
def test_pod_asks_for_a_reservation(facts: dict[str, object], asks: dict[str, str], uses: str | None) -> None:
    """§3.5, the matching sequence. None: no node takes the pod."""
    cluster = nodes(a="8")
    cluster[0]["metadata"]["labels"]["zone"] = "z1"
    held = reservation_object("r", node="a", labels={"team": "red"}, **facts)  # type: ignore[arg-type]
    world = World([*cluster, held, koord_pod("p", cpu="1", annotations=asks)])

    if uses is None:
        assert world.reasons("p") == {"a": ("node(s) no reservations match reservation affinity",)}
        assert world.evaluate("p").first_obstacle_on(0).code is Code.UNRESOLVABLE
    else:
        assert world.place("p") == ("a", uses)


def test_pod_whose_annotation_cannot_be_read_is_placed_nowhere() -> None:
    world = World([*ONE_NODE, reservation_object("r", node="a"), koord_pod("p", annotations={AFFINITY: "{"})])

    assert world.fitting("p") == []


def test_explanation_says_what_each_reservation_of_the_node_has_to_do_with_the_pod() -> None:
    objects = [
        *ONE_NODE,
        reservation_object("r", node="a", cpu="1", unschedulable=True),
        reservation_object("s", node="a", cpu="1", app="x"),
        koord_pod("p", cpu="1", annotations=affinity()),
    ]
    world = World(objects)
    evaluation = world.evaluate("p")
    refused = RefusedNode(evaluation.cycle, world.scheduler, 0)
    obstacle = evaluation.refusals[0]

    assert list(explain_reservations(refused, obstacle)) == [
        "Reservation r is unschedulable",
        "Reservation s is for other pods",
    ]
    assert diagnosis(evaluation.cycle) == ("1 Reservation(s) is unschedulable", "1 Reservation(s) matched owner total")
