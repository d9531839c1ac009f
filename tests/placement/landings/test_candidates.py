"""When the node of a replacement is its scheduler's choice among several."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from descheduler.placement.landings.candidates import LandingCandidate
from tests.builders import make_pod

VICTIM = make_pod("web")


def candidate(**unplaced: Any) -> LandingCandidate:
    """One whose scheduler leaves every choice open, where it looks for a node at all."""
    scheduler = SimpleNamespace(leaves_open=lambda pod: unplaced["leaves_open"])
    found = SimpleNamespace(pod=VICTIM, scheduler=scheduler, held_on=unplaced["held_on"]) if unplaced else None
    return LandingCandidate(VICTIM, leaves=True, is_moved=True, unplaced=cast(Any, found))


@pytest.mark.parametrize(
    ("unplaced", "is_open"),
    [
        pytest.param({}, False, id="no node is looked for"),
        pytest.param({"leaves_open": True, "held_on": ""}, True, id="the scheduler leaves it open"),
        pytest.param({"leaves_open": False, "held_on": ""}, False, id="the scheduler is known to choose"),
        pytest.param({"leaves_open": True, "held_on": "a"}, False, id="room is held on a node"),
    ],
)
def test_choice_is_open_where_the_scheduler_leaves_it_so(unplaced: dict[str, Any], is_open: bool) -> None:
    assert candidate(**unplaced).is_placed_openly is is_open
