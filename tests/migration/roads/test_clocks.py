"""Clocks of the machine of a run and of the API server that differ, by which the time limits of jobs are wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeKind
from descheduler.supervision import Watch
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of, world

DIRECTLY = WAYS["directly"]


def run_ahead(cluster: LivingCluster, seconds: float) -> RunResult:
    """A run on a machine whose clock is so far ahead of that of the API server."""
    clock = cluster.clock
    watch = Watch(clock=clock.monotonic, now=lambda: clock.now() + timedelta(seconds=seconds), sleep=clock.sleep)
    return live_run(cluster, policy_of(DIRECTLY), watch=watch)


def told(result: RunResult) -> list[str]:
    return [note for note in result.decisions.notes if "the clock" in note]


@pytest.mark.parametrize(
    ("seconds", "words", "num_evicted"),
    [
        pytest.param(600.0, "about 600 s ahead of", 0, id="ahead"),
        pytest.param(-600.0, "about 600 s behind", 2, id="behind"),
    ],
)
def test_run_says_how_far_the_clocks_are_apart(seconds: float, words: str, num_evicted: int) -> None:
    result = run_ahead(world(DIRECTLY), seconds)

    assert told(result) == [
        f"the clock of this machine is {words} the clock of the API server; "
        "time limits of jobs (ttl) are wrong by as much"
    ]
    assert sum(outcome.kind is OutcomeKind.EVICTED for outcome in result.outcomes) == num_evicted


def test_run_says_nothing_of_clocks_that_agree_to_some_seconds() -> None:
    assert told(run_ahead(world(DIRECTLY), 20.0)) == []
