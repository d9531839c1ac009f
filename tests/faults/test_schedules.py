"""Two hundred schedules of `python -m tests.faults`, the same ones each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.campaign import Campaign
from tests.faults.story import story
from tests.faults.tally import Tally

_NUM_SCHEDULES = 200
_BLOCK = 25
_JOBS = 12
"""Most of a schedule is waiting."""


@pytest.fixture(scope="session")
def campaign() -> Iterator[Campaign]:
    """The program, loaded once for each worker of the suite."""
    with Campaign() as loaded:
        yield loaded


@pytest.mark.parametrize("first_seed", range(1, _NUM_SCHEDULES, _BLOCK))
def test_promises_are_kept_whatever_the_server_answers(campaign: Campaign, first_seed: int) -> None:
    played = list(campaign.play_all(range(first_seed, first_seed + _BLOCK), num_jobs=_JOBS))

    broken = [one for one in played if one.broken]
    for one in broken:
        print(story(one))
    assert [str(found) for one in broken for found in one.broken] == []


@pytest.mark.parametrize("first_seed", [1])
def test_schedules_reach_what_they_are_made_for(campaign: Campaign, first_seed: int) -> None:
    """A harness whose runs all fail early would keep every promise."""
    tally = Tally()

    for one in campaign.play_all(range(first_seed, first_seed + _BLOCK), num_jobs=_JOBS):
        tally.add(one)

    assert tally.reach["evicted pods"] >= _BLOCK / 4
    assert tally.reach["effect behind a lost or false answer"] >= 2
