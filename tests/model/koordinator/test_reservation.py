"""Reservations of Koordinator as objects: what they default to, and when they end (§3.1, §3.2, §3.4)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.koordinator.reservation import Reservation
from tests.builders import NOW, Object, ago

_MADE = {"metadata": {"name": "r", "uid": "u", "creationTimestamp": ago(7200)}}


def reservation(spec: Object | None = None, **status: object) -> Reservation:
    """A Reservation that is two hours old."""
    stated = {"owners": [{"labelSelector": {}}], "template": {"spec": {"containers": []}}, **(spec or {})}
    kind = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    (found,) = snapshot_from_objects([{**kind, **_MADE, "spec": stated, "status": status}]).reservations
    return found


def test_reservation_is_for_one_pod_and_lasts_a_day_unless_it_says_otherwise() -> None:
    found = reservation()

    assert (found.allocate_once, found.allocate_policy, found.ttl) == (True, "", timedelta(hours=24))


@pytest.mark.parametrize(
    ("spec", "node", "expected"),
    [
        pytest.param({"ttl": "1h"}, "a", True, id="older than its ttl"),
        pytest.param({"ttl": "3h"}, "a", False, id="younger than its ttl"),
        pytest.param({"ttl": "3h", "expires": ago(60)}, "a", True, id="past its time"),
        pytest.param({"ttl": "0s", "expires": ago(60)}, "a", False, id="a ttl of 0 is for ever"),
        pytest.param({"ttl": "1h"}, "", False, id="one that never found a node"),
    ],
)
def test_reservation_expires(spec: Object, node: str, expected: bool) -> None:
    assert reservation(spec, nodeName=node, phase="Available").has_expired(_now()) is expected


def test_reserve_pod_has_the_highest_priority_unless_its_template_or_a_label_says_otherwise() -> None:
    pod = reservation().pod

    assert pod is not None
    assert (pod.priority, pod.namespace, pod.name, pod.uid) == (2**31 - 1, "default", "r", "u")


def test_reserve_pod_asks_for_its_node_by_annotation() -> None:
    pod = reservation({"template": {"spec": {"nodeName": "a", "containers": []}}}).pod

    assert pod is not None
    assert pod.node_name == ""
    assert pod.annotations["scheduling.koordinator.sh/reservation-node"] == "a"


def test_reservation_whose_owners_cannot_be_read_is_for_nobody() -> None:
    found = reservation({"owners": [{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}]})

    assert found.fault


def _now() -> datetime:
    return NOW


@pytest.mark.parametrize(
    ("phase", "node", "states"),
    [
        pytest.param("Available", "a", (True, False, True), id="pods may use it"),
        pytest.param("Waiting", "a", (True, True, False), id="pods still have its room"),
        pytest.param("Waiting", "", (False, False, False), id="it has no node"),
        pytest.param("Failed", "a", (False, False, False), id="it has failed"),
    ],
)
def test_reservation_holds_room_on_its_node_by_its_phase(phase: str, node: str, states: tuple[bool, ...]) -> None:
    found = reservation(phase=phase, nodeName=node)

    assert (found.is_active, found.is_waiting, found.is_available) == states
