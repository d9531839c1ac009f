"""Twenty schedules of `python -m tests.faults`, the same ones each time, and in `make test-all` two hundred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.faults.campaign import Campaign
from tests.faults.rooms.matrix import each_write
from tests.faults.schedule import Schedule, draw_schedule
from tests.faults.story import story
from tests.faults.tally import Tally
from tests.series import first_of

pytestmark = pytest.mark.long

_BLOCKS = [range(1, 21), range(21, 71), range(71, 121), range(121, 171), range(171, 201)]
_JOBS, _FEW_JOBS = 20, 2
"""Most of a schedule is waiting."""
_REACHED_OF_FIFTY = {
    "evicted pods": 10,
    "effect behind a lost or false answer": 2,
    "rooms: created": 5,
    "rooms: pods evicted with room held": 4,
    "rooms: a write met a fault": 3,
    "rooms: a signal came at a write": 1,
    "rooms: objects that look like ours": 4,
    "rooms: broken objects": 1,
    "rooms: users' jobs carried on": 2,
}
"""What fifty of them get to at least."""


@pytest.fixture(scope="session")
def campaign() -> Iterator[Campaign]:
    """The program, loaded once for each worker of the suite."""
    with Campaign() as loaded:
        yield loaded


def test_a_small_run_keeps_its_promises_whatever_happens_at_one_of_its_writes(campaign: Campaign) -> None:
    """Every 121st of the schedules of `--each-write`: all kinds of trouble are among them."""
    least = {"rooms: pods evicted with room held": 3, "rooms: a write met a fault": 2}

    assert_promises_are_kept(campaign, list(each_write())[::121], least)


@pytest.mark.parametrize("seeds", first_of(1, _BLOCKS))
def test_promises_are_kept_whatever_the_server_answers(campaign: Campaign, seeds: range) -> None:
    least = {what: number * len(seeds) // 50 for what, number in _REACHED_OF_FIFTY.items()}

    assert_promises_are_kept(campaign, list(map(draw_schedule, seeds)), least)


def assert_promises_are_kept(campaign: Campaign, schedules: Sequence[Schedule], least: Mapping[str, int]) -> None:
    """A harness whose runs all fail early would keep every promise, so how far they get at `least` is asserted too.

    Where others keep the machine busy, many runs side by side only meet their deadlines: then few play once more.
    """
    tally = Tally()
    for num_jobs in (_JOBS, _FEW_JOBS):
        broken = []
        for one in campaign.play_schedules(schedules, num_jobs=num_jobs):
            tally.add(one)
            broken += [str(found) for found in one.broken]
            if one.broken:
                print(story(one))

        assert broken == []
        if not (missing := {what: tally.reach[what] for what, number in least.items() if tally.reach[what] < number}):
            return
    assert missing == {}
