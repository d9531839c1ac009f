"""Pods that come for evicted ones look to strategies as their scheduler leaves them."""

from __future__ import annotations

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.strategies.remove_pods_violating_node_reservation.remove_pods_violating_node_reservation import (
    held_by_reservations,
)
from tests.placement.plugins.reservation.test_landings import web
from tests.placement.plugins.reservation.worlds import configuration, koord_pod, nodes, reservation_object, snapshot_of

_CPU = 10**9


def test_arrival_that_uses_a_reservation_takes_no_room_beside_it() -> None:
    held = reservation_object("r", node="b", cpu="3", allocateOnce=False)
    snapshot = snapshot_of(*nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="2")), held)
    book = LandingBook(snapshot)
    book.book(snapshot.pods[0], SchedulingSettings(configuration()))

    arrival = book.arrival_of(snapshot.pods[0])

    assert arrival is not None
    found = held_by_reservations("b", [arrival], snapshot.reservations)
    assert (found.amounts, found.owners) == ({"cpu": 3 * _CPU}, frozenset({id(arrival)}))
