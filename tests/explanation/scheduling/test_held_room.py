"""`explain pod` names what Reservations hold on a node only where that is what the pod is short of."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.explanation.scheduling.analysis import analyse
from tests.placement.plugins.reservation.worlds import World, configuration, koord_pod, nodes, reservation_object

_HELD = "Reservation r holds cpu 6 for its owners"


@pytest.mark.parametrize(
    ("pod", "is_named"),
    [
        pytest.param({"cpu": "3"}, True, id="short of what it holds"),
        pytest.param({"cpu": "1", "requests": {"example.com/gpu": "1"}}, False, id="short of another resource"),
        pytest.param({"cpu": "8"}, True, id="all that the node has"),
        pytest.param({"cpu": "9"}, False, id="more than the whole node has"),
    ],
)
def test_reservation_is_named_where_it_holds_what_the_pod_is_short_of(pod: dict[str, Any], is_named: bool) -> None:
    held = reservation_object("r", node="a", cpu="6")
    world = World([*nodes(a="8"), held, koord_pod("p", app="other", **pod)], reserves=True)

    (miss,) = analyse(world.cluster, configuration(reserves=True), world.pods["p"]).misses

    assert (_HELD in [sentence for obstacle in miss.obstacles for sentence in obstacle.details]) == is_named
