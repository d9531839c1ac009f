"""A whole run that is killed anywhere is made good by the next, and of two runs at once one acts."""

from __future__ import annotations

import pytest

from descheduler.kube.leases.lease import LeaseHeld
from tests.migration.roads.killed_runs import ALL_WAYS, broken_by_a_kill, num_calls
from tests.migration.roads.whole_runs import WAYS, live_run, observed, policy_of, watch_of, world
from tests.series import Part, parts

pytestmark = pytest.mark.long


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", ALL_WAYS)
@pytest.mark.parametrize("part", parts(37))
def test_the_next_run_makes_good_what_a_killed_one_left(part: Part, name: str, after: bool) -> None:
    numbers = part.of(range(1, num_calls(name) + 1), shift=8 * after)

    broken = {
        number: broken_by_a_kill(name, number, after=after, waits_for_lease=number % 2 == 0) for number in numbers
    }

    assert not any(broken.values()), broken


@pytest.mark.parametrize("name", WAYS)
def test_of_two_runs_at_once_one_acts(name: str) -> None:
    way = WAYS[name]
    cluster = world(way)
    observer = observed(cluster, "us", "them")
    refused: list[str] = []

    def run_beside(seconds: float) -> None:
        """The other run comes whenever the first one waits."""
        with pytest.raises(LeaseHeld) as told:
            live_run(cluster, policy_of(way), agent="them")
        refused.append(str(told.value))
        cluster.clock.sleep(seconds)

    watch = watch_of(cluster)
    watch.sleep = run_beside
    live_run(cluster, policy_of(way), watch=watch)

    observer.assert_kept()
    assert len(refused) > 2
    assert len(observer.departures) == 2
