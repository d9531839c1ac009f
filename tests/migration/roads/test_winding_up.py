"""A run that is halted ends soon, whatever the API server still answers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from msgspec.structs import replace

from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.plan.outcome import OutcomeCode
from tests.living.builders import budget, deployment, living_cluster
from tests.migration.roads.playing import Play
from tests.migration.stand_ins import AtOnce

_LOOKS_BEFORE_HALT = 8
_NUM_PODS = 6
_DOCUMENTED_SECONDS = 5.0
"""For how long the program may go on after `--deadline`, by the page about pace and limits."""


class Ticking:
    """A clock on which a little time passes each time that somebody looks."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 0.05
        return self.seconds


class HangsWhenHalted(AtOnce):
    """Makes calls at once, until the run is halted: then no answer comes any more."""

    def __init__(self) -> None:
        self.is_halted = False

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`, which ends only before the run is halted."""
        return Future() if self.is_halted else super().submit(call)


class Halted(Play):
    """A run that is halted at a look at its clock, when its jobs wait for room."""

    def surroundings(self) -> Surroundings:
        """What is outside of the run."""
        self.ticking, calls, looks = Ticking(), HangsWhenHalted(), 0
        self.halted_at: float | None = None

        def halted() -> tuple[OutcomeCode, str] | None:
            nonlocal looks
            looks += 1
            if looks <= _LOOKS_BEFORE_HALT:
                return None
            calls.is_halted = True
            if self.halted_at is None:
                self.halted_at = self.ticking.seconds
            return OutcomeCode.DEADLINE, "--deadline exceeded"

        return replace(super().surroundings(), clock=self.ticking, calls=calls, halted=halted)


def test_a_halted_run_whose_calls_get_no_answer_ends_within_the_documented_time() -> None:
    pods = deployment("web", _NUM_PODS, on=["n1"] * _NUM_PODS)
    others = [deployment(f"app{number}", 1, on=["n1"]) for number in range(_NUM_PODS)]
    cluster = living_cluster(3, [pods, *others])
    cluster.pause_scheduling()
    play = Halted(cluster)

    outcomes = play.evict(*(cluster.pods(f"app{number}")[0] for number in range(_NUM_PODS)))

    assert {outcome.code for outcome in outcomes} == {OutcomeCode.DEADLINE}
    assert play.jobs() != ()
    assert play.halted_at is not None
    assert play.ticking.seconds - play.halted_at <= _DOCUMENTED_SECONDS


class Recorded(Play):
    """A run whose sleeps are known."""

    def surroundings(self) -> Surroundings:
        """What is outside of the run."""
        around, self.sleeps = super().surroundings(), list[float]()

        def sleep(seconds: float) -> None:
            self.sleeps.append(seconds)
            around.sleep(seconds)

        return replace(around, sleep=sleep)


def test_a_run_that_waits_for_a_budget_looks_at_its_deadline_each_second() -> None:
    cluster = living_cluster(3, [deployment("web", 2, on=["n1", "n1"])], [budget("web", minAvailable=2)])
    play = Recorded(cluster, mode="EvictDirectly")

    (outcome,) = play.evict(cluster.pods("web")[0])

    assert outcome.code is OutcomeCode.BUDGET
    assert 0.0 < max(play.sleeps) <= 1.0
