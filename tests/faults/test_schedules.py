"""Fifty schedules of `python -m tests.faults`, the same ones each time, and in `make test-all` two hundred."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.campaign import Campaign
from tests.faults.rooms.matrix import each_write
from tests.faults.story import story
from tests.faults.tally import Tally
from tests.series import first_of

_NUM_SCHEDULES = 200
_BLOCK = 50
_JOBS = 20
"""Most of a schedule is waiting."""
_REACHED = {
    "rooms: created": 5,
    "rooms: pods evicted with room held": 4,
    "rooms: a write met a fault": 3,
    "rooms: a signal came at a write": 1,
    "rooms: objects that look like ours": 4,
    "rooms: broken objects": 1,
    "rooms: users' jobs carried on": 2,
}
"""What each block gets to at least."""


@pytest.fixture(scope="session")
def campaign() -> Iterator[Campaign]:
    """The program, loaded once for each worker of the suite."""
    with Campaign() as loaded:
        yield loaded


def test_a_small_run_keeps_its_promises_whatever_happens_at_one_of_its_writes(campaign: Campaign) -> None:
    """Every 73rd of the schedules of `--each-write`: all kinds of trouble are among them."""
    tally, broken = Tally(), []

    for one in campaign.play_schedules(list(each_write())[::73], num_jobs=_JOBS):
        tally.add(one)
        broken += [str(found) for found in one.broken]
        if one.broken:
            print(story(one))

    assert broken == []
    assert tally.reach["rooms: pods evicted with room held"] >= 5
    assert tally.reach["rooms: a write met a fault"] >= 3


@pytest.mark.parametrize("first_seed", first_of(1, range(1, _NUM_SCHEDULES, _BLOCK)))
def test_promises_are_kept_whatever_the_server_answers(campaign: Campaign, first_seed: int) -> None:
    """A harness whose runs all fail early would keep every promise, so how far they got is asserted too."""
    tally, broken = Tally(), []

    for one in campaign.play_all(range(first_seed, first_seed + _BLOCK), num_jobs=_JOBS):
        tally.add(one)
        broken += [str(found) for found in one.broken]
        if one.broken:
            print(story(one))

    assert broken == []
    assert tally.reach["evicted pods"] >= _BLOCK / 5
    assert tally.reach["effect behind a lost or false answer"] >= _BLOCK / 25
    assert {what: tally.reach[what] for what, least in _REACHED.items() if tally.reach[what] < least} == {}
