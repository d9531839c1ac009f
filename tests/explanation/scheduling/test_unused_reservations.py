"""`explain pod` under the manifest of Koordinator, whose pods never use a Reservation up."""

from __future__ import annotations

import pytest

from descheduler.explanation.scheduling.analysis import analyse
from tests.placement.plugins.reservation.worlds import World, configuration, koord_pod, nodes, reservation_object

_NOTE = (
    "its Reservation r holds room on a, but the configuration of koord-scheduler does not enable Reservation under"
    " reserve, so the Reservation stays unused"
)


def _notes(*, reserves: bool, app: str = "web") -> list[str]:
    held = reservation_object("r", node="a", cpu="6")
    world = World([*nodes(a="8", b="8"), held, koord_pod("p", app=app, cpu="1")], reserves=reserves)
    analysis = analyse(world.cluster, configuration(reserves=reserves), world.pods["p"])
    return [note for note in analysis.notes if "Reservation" in note]


@pytest.mark.parametrize(
    ("reserves", "expected"),
    [
        pytest.param(False, [_NOTE], id="the plugin is missing under reserve"),
        pytest.param(True, [], id="the plugin uses it"),
    ],
)
def test_reservation_that_its_owner_never_uses_up_is_named(reserves: bool, expected: list[str]) -> None:
    assert _notes(reserves=reserves) == expected


def test_reservation_of_others_is_not_named() -> None:
    assert _notes(reserves=False, app="other") == []
